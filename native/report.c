#include "report.h"

#include "syscall.h"

struct operation_mark current_operation = {0, "start"};
char kernel_text[512];

_Noreturn void quit(int code) {
	for (;;) sys_exit_group(code);
}

void quit_as(int status) {
	int signal = status & 127;
	quit(signal ? 128 + signal : status >> 8 & 255);
}

void report_end(int status) {
	int signal = status & 127;
	report_number(signal ? "signal" : "exit", signal ? signal : status >> 8 & 255);
}

void write_line(int fd, struct line *line) {
	/* The newline takes the place of the NUL: it always fits, and the line stays one write. */
	line->bytes[line->length] = '\n';
	sys_write(fd, line->bytes, line->length + 1);
}

void report_line(struct line *line) { write_line(REPORT_FD, line); }

void report_number(const char *word, long number) {
	struct line line;
	start_line(&line, word);
	add_text(&line, " ");
	add_number(&line, number);
	report_line(&line);
}

_Noreturn void fail(long error, const char *text) {
	struct line line;
	start_line(&line, "fail ");
	add_number(&line, current_operation.index);
	add_text(&line, " ");
	add_number(&line, -error);
	add_text(&line, " ");
	add_text(&line, current_operation.name);
	add_text(&line, " ");
	add_clean(&line, text, 1200);
	if (kernel_text[0]) {
		add_text(&line, " | ");
		add_clean(&line, kernel_text, sizeof kernel_text);
	}
	report_line(&line);
	quit(LAUNCHER_FAILED);
}

long must(long result, const char *text) {
	if (result < 0) fail(result, text);
	return result;
}

uint64_t must_number(const char *text, uint64_t most) {
	uint64_t number;
	if (!parse_number(text, &number) || number > most) {
		struct line line;
		start_line(&line, "not a number in range: ");
		add_clean(&line, text, 200);
		fail(-EINVAL, line.bytes);
	}
	return number;
}

/*
 * What the caller is told, in lines on descriptor 4: `init PID`, `layers FORM`, `started`, `exec-failed ERRNO`,
 * `exit CODE`, `signal NUMBER`, `waiting N` (the command has ended, N joined ones have not), `disturbed` (something outside continued frozen processes) and
 * `fail INDEX ERRNO OPERATION TEXT [| what the kernel said]`. Each line is one write. Several processes write them, so
 * their order means nothing.
 */
#ifndef DROPCLOTH_REPORT_H
#define DROPCLOTH_REPORT_H

#include "text.h"

/* The descriptors that the caller hands over. They stay taken for the launcher's whole life: a number that became
 * free would be given to something else, and a later close of it would hit that. */
enum { PLAN_FD = 3, REPORT_FD = 4, CONTROL_FD = 5, LOCK_FD = 6, HAND_OUT_FD = 7 };

/* The exit code that says: the launcher failed, not the command. */
enum { LAUNCHER_FAILED = 125 };

/* The operation that a failure is counted against: its place in the plan, and its name. */
struct operation_mark {
	int index;
	const char *name;
};
extern struct operation_mark current_operation;

/* Text of the kernel about the failed mount, empty when it gave none. */
extern char kernel_text[512];

_Noreturn void quit(int code);
/* Ends as a process with this wait status did: with its code, or 128 and its signal. */
_Noreturn void quit_as(int status);
/* Writes the line and a newline, at once. */
void write_line(int fd, struct line *line);
void report_line(struct line *line);
/* A line of a word and a number. */
void report_number(const char *word, long number);
/* How the command ended, by its wait status. */
void report_end(int status);
/* Reports the failure of the current operation (error is -errno) and ends this process with code 125. */
_Noreturn void fail(long error, const char *text);
/* A result that may not be negative. */
long must(long result, const char *text);
/* An operand that has to be a decimal number up to `most`. */
uint64_t must_number(const char *text, uint64_t most);

#endif

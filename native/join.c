#include "join.h"

#include "freeze.h"
#include "job.h"
#include "life-line.h"
#include "namespaces.h"
#include "operations.h"
#include "outer.h"
#include "report.h"
#include "syscall.h"

enum { LARGEST_PID = 1 << 22, LOOK_AGAIN_NS = 50000000 };

static bool joined;
static struct operation_mark mark;

bool has_joined(void) { return joined; }

void fail_joining(void) {
	current_operation = mark;
	fail(-ESRCH, "the sandbox has ended");
}

/* What follows field 2 of /proc/PID/stat, which may hold anything; proc_pid_stat(5). NULL when the process is gone. */
static const char *read_fields(int pid, char *text, size_t size) {
	struct line path;
	start_line(&path, "/proc/");
	add_number(&path, pid);
	add_text(&path, "/stat");
	int fd = (int)sys_openat(AT_FDCWD, path.bytes, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0) return NULL;
	long length = sys_read(fd, text, size - 1);
	sys_close(fd);
	if (length <= 0) return NULL;
	text[length] = 0;
	while (length > 0 && text[length - 1] != ')') length--;
	return text + length + 1;
}

/* Whether the process with this id is the one that started then, in clock ticks since boot, and has not ended. */
static bool is_process_of(int pid, const char *start) {
	enum { START_AFTER_STATE = 19 };
	char text[1024];
	const char *field = read_fields(pid, text, sizeof text);
	if (!field || *field == 'Z' || *field == 'X') return false;
	for (int skip = START_AFTER_STATE; skip && *field; field++)
		if (*field == ' ') skip--;
	while (*start && *start == *field) start++, field++;
	return !*start && *field == ' ';
}

/* Through the namespaces of one process, which a descriptor holds on to: its id may come to mean another. */
static void enter_namespaces(int pid, const char *start) {
	int sandbox = (int)sys_pidfd_open(pid);
	if (sandbox == -ESRCH) fail_joining();
	must(sandbox, "pidfd_open");
	uint64_t others = namespaces_that_differ(pid);
	/* Looked at last: the id meant this process all the time before. */
	if (!is_process_of(pid, start)) fail_joining();
	if (!(others & CLONE_NEWNS) || !(others & CLONE_NEWPID)) fail(-EINVAL, "not the first process of a sandbox");
	long result = sys_setns(sandbox, others);
	if (result == -ESRCH) fail_joining();
	must(result, "setns");
	sys_close(sandbox);
}

/*
 * The process that enters stands between the outer one and the command as PID 1 does in a run of its own. It stays
 * outside of the pid namespace, so that it cannot be seen or signalled from inside, and no freeze stops it.
 */
void op_join(char **operand, int extra) {
	(void)extra;
	int init = (int)must_number(operand[0], LARGEST_PID);
	mark = current_operation;
	split_from_outer();
	sys_prctl(PR_SET_NAME, (unsigned long)"dropcloth-join", 0);
	enter_namespaces(init, operand[1]);
	/* A change of credentials takes it away. */
	bind_to_outer();
	joined = true;
	report_number("init", init);
}

void be_bound_to_joiner(int line) {
	bind_to_parent(line);
	/* The freeze looks for what runs after it has said that it stands: what begins before that, it finds. */
	while (is_frozen_by_init()) sys_nanosleep(LOOK_AGAIN_NS);
}

static int continues_at_thaw;
static bool looks_again;

/* What the freeze held back, once it is over. */
static void look_again(void) {
	looks_again = is_frozen_by_init();
	if (looks_again) return;
	for (; continues_at_thaw; continues_at_thaw--) continue_command(NOT_BY_JOB);
	looks_again = !look_for_stop();
}

static void read_message(unsigned char message) {
	if (!(message & CONTINUE)) {
		pass_signal(message);
	} else if (is_frozen_by_init()) {
		continues_at_thaw++;
		looks_again = true;
	} else {
		continue_command(message);
	}
}

/* Continues this process when the outer one ends, should it stand stopped: see end_with_outer. */
static void see_end_of_outer(void) { must(sys_prctl(PR_SET_PDEATHSIG, SIGCONT, 0), "prctl"); }

/*
 * The command can take back that it dies with its parent, so it is killed from here. What it has started goes on, as it
 * does when a terminal closes.
 */
static _Noreturn void end_with_outer(int command) {
	sys_kill(command, SIGKILL);
	quit(LAUNCHER_FAILED);
}

/* Killed before it said that it begins, it was so by the end of the sandbox. */
static _Noreturn void joined_ended(int status, int line) {
	char begun;
	if ((status & 127) == SIGKILL && sys_read(line, &begun, 1) != 1) fail_joining();
	report_end(status);
	quit_as(status);
}

void run_joined(int command, int line) {
	see_end_of_outer();
	begin_job(command, true, is_frozen_by_init);
	int signals = (int)must(sys_signalfd(ALL_SIGNALS), "signalfd");
	struct pollfd polled[] = {{signals, POLLIN, 0}, {life_line, POLLIN, 0}};
	for (;;) {
		polled[0].revents = polled[1].revents = 0;
		struct __kernel_timespec soon = {0, LOOK_AGAIN_NS};
		sys_ppoll(polled, 2, looks_again ? &soon : NULL);
		struct signalfd_siginfo signal;
		if (polled[0].revents) sys_read(signals, &signal, sizeof signal);
		int status;
		if (sys_wait4(command, &status, WNOHANG) == command) joined_ended(status, line);
		unsigned char message;
		if (polled[1].revents) {
			if (sys_read(life_line, &message, 1) != 1) end_with_outer(command);
			read_message(message);
		}
		look_again();
	}
}

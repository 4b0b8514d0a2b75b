#include "init.h"

#include "freeze.h"
#include "job.h"
#include "life-line.h"
#include "operations.h"
#include "outer.h"
#include "report.h"
#include "syscall.h"

static bool has_control;

/* How often the caller's job was continued while all was frozen: the thaw passes it on. */
static int continues_at_thaw;

void op_control(char **operand, int extra) {
	(void)operand, (void)extra;
	has_control = true;
}

static _Noreturn void command_ended(int status) {
	report_end(status);
	quit_as(status);
}

static void reap(void) {
	int status, pid;
	while ((pid = (int)sys_wait4(-1, &status, WNOHANG)) > 0)
		if (pid == the_command) command_ended(status);
	look_for_stop();
}

/* Only the end of children: signals for the command come by the life line. */
static void read_signal(int signals) {
	struct signalfd_siginfo signal;
	if (sys_read(signals, &signal, sizeof signal) != sizeof signal) return;
	if (signal.ssi_signo == SIGCHLD) reap();
}

/* False when the outer process is gone. */
static bool read_life_line(void) {
	unsigned char message;
	if (sys_read(life_line, &message, 1) != 1) return false;
	if (!(message & CONTINUE)) {
		pass_signal(message);
	} else if (is_frozen()) {
		/* `fg` continues every process of the job's group itself, frozen or not: the owner has to know. */
		struct line line;
		start_line(&line, "disturbed");
		report_line(&line);
		continues_at_thaw++;
	} else {
		continue_command(message);
	}
	return true;
}

/* False when the owner has gone: what it froze goes on. */
static bool read_control(void) {
	char request;
	bool open = sys_read(CONTROL_FD, &request, 1) == 1;
	bool was_frozen = is_frozen();
	if (open) answer_control(request);
	else thaw();
	if (was_frozen && !is_frozen()) {
		for (; continues_at_thaw; continues_at_thaw--) continue_command(NOT_BY_JOB);
		look_for_stop();
	}
	return open;
}

_Noreturn void run_init(int command, bool own_group) {
	begin_job(command, own_group, is_frozen);
	if (has_control) prepare_freeze();
	int signals = (int)must(sys_signalfd(ALL_SIGNALS), "signalfd");
	struct pollfd polled[] = {{signals, POLLIN, 0}, {life_line, POLLIN, 0}, {CONTROL_FD, POLLIN, 0}};
	unsigned count = has_control ? 3 : 2;
	for (;;) {
		for (unsigned i = 0; i < count; i++) polled[i].revents = 0;
		if (sys_ppoll(polled, count, NULL) < 0) continue;
		if (polled[0].revents) read_signal(signals);
		if (polled[1].revents && !read_life_line()) quit(LAUNCHER_FAILED);
		if (count == 3 && polled[2].revents && !read_control()) count = 2;
	}
}

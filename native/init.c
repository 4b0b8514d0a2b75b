#include "init.h"

#include "freeze.h"
#include "life-line.h"
#include "operations.h"
#include "outer.h"
#include "report.h"
#include "syscall.h"

static bool has_control;

static int the_command;
static bool leads_own_group;
static bool stop_told;
/* How often the caller's job was continued while all was frozen: the thaw passes it on. */
static int continues_at_thaw;

void op_control(char **operand, int extra) {
	(void)operand, (void)extra;
	has_control = true;
}

static void tell_outer(char message) { sys_write(life_line, &message, 1); }

/*
 * Tells the outer process once when the command has stopped. The question leaves the stop where it is, so that it can
 * be asked again; the kernel forgets a stop when the process is continued. Stops that the freeze makes are none of the
 * job's.
 */
static void look_for_stop(void) {
	if (is_frozen()) return;
	siginfo_t info = {.si_pid = 0};
	sys_waitid(the_command, &info, WSTOPPED | WNOHANG | WNOWAIT);
	bool was_told = stop_told;
	stop_told = info.si_pid == the_command;
	if (!stop_told || was_told) return;
	/* A group that can't be named in here is the caller's, or its shell's. */
	int group = 0;
	bool inside = false;
	for (int fd = 0; fd < 3 && !inside; fd++) inside = sys_ioctl(fd, TIOCGPGRP, &group) == 0 && group > 0;
	tell_outer(inside ? COMMAND_STOPPED_AT_FRONT : COMMAND_STOPPED);
}

/*
 * In the caller's group the command was continued together with the job. To continue it once more could undo a stop
 * that it made since.
 */
static void continue_command(int flags) {
	int group = sys_getpgid(the_command);
	/* Started in the background and now brought to the front: nobody else could give it the terminal. */
	if ((flags & AT_FRONT) && leads_own_group && group > 0) sys_ioctl(0, TIOCSPGRP, &group);
	if (group > 0) sys_kill(-group, SIGCONT);
	else if (flags & NOT_BY_JOB) sys_kill(the_command, SIGCONT);
	tell_outer(CONTINUED);
	/* One from before could be told and not heard: what holds now is told again. */
	stop_told = false;
	look_for_stop();
}

static _Noreturn void command_ended(int status) {
	int signal = status & 127;
	int code = signal ? 128 + signal : status >> 8 & 255;
	report_number(signal ? "signal" : "exit", signal ? signal : code);
	quit(code);
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

static void pass_signal(int message) {
	int group = sys_getpgid(the_command);
	if (message <= TO_GROUP) sys_kill(the_command, message);
	else sys_kill(group > 0 ? -group : the_command, message - TO_GROUP);
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
	the_command = command;
	leads_own_group = own_group;
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

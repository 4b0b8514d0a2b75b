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
/* The caller's job was continued while all was frozen: the thaw passes it on. */
static bool continue_at_thaw;

void op_control(char **operand, int extra) {
	(void)operand, (void)extra;
	has_control = true;
}

/*
 * Stops that the freeze makes are none of the job's: it is asked for them only while nothing is frozen, and the kernel
 * forgets a stop when the process is continued.
 */
static void command_stopped(void) {
	/* A group that can't be named in here is the caller's, or its shell's. */
	int group = 0;
	bool inside = false;
	for (int fd = 0; fd < 3 && !inside; fd++) inside = sys_ioctl(fd, TIOCGPGRP, &group) == 0 && group > 0;
	char message = inside ? COMMAND_STOPPED_AT_FRONT : COMMAND_STOPPED;
	sys_write(life_line, &message, 1);
}

static void continue_command(bool at_front) {
	int group = sys_getpgid(the_command);
	/* Started in the background and now brought to the front: nobody else could give it the terminal. */
	if (at_front && leads_own_group && group > 0) sys_ioctl(0, TIOCSPGRP, &group);
	sys_kill(group > 0 ? -group : the_command, SIGCONT);
}

static _Noreturn void command_ended(int status) {
	int signal = status & 127;
	int code = signal ? 128 + signal : status >> 8 & 255;
	report_number(signal ? "signal" : "exit", signal ? signal : code);
	quit(code);
}

static void reap(void) {
	int status, pid;
	while ((pid = (int)sys_wait4(-1, &status, WNOHANG | (is_frozen() ? 0 : WUNTRACED))) > 0) {
		if (pid != the_command) continue;
		if ((status & 255) == 127) command_stopped();
		else command_ended(status);
	}
}

static void read_signal(int signals) {
	struct signalfd_siginfo signal;
	if (sys_read(signals, &signal, sizeof signal) != sizeof signal) return;
	if (signal.ssi_signo == SIGCHLD) reap();
	/* From the outer process: pid 0 is a sender outside, and the value is its mark. */
	else if (signal.ssi_code == SI_QUEUE && signal.ssi_pid == 0 && signal.ssi_int == FORWARDED)
		sys_kill(the_command, (int)signal.ssi_signo);
}

/* False when the outer process is gone. */
static bool read_life_line(void) {
	char message;
	if (sys_read(life_line, &message, 1) != 1) return false;
	if (!is_frozen()) continue_command(message == CONTINUE_AT_FRONT);
	else {
		/* `fg` continues every process of the job's group itself, frozen or not: the owner has to know. */
		struct line line;
		start_line(&line, "disturbed");
		report_line(&line);
		continue_at_thaw = true;
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
		if (continue_at_thaw) continue_command(false);
		continue_at_thaw = false;
		reap(); /* what stopped or ended meanwhile */
	}
	return open;
}

_Noreturn void run_init(int command, bool own_group) {
	the_command = command;
	leads_own_group = own_group;
	if (own_group && !owns_terminal) {
		char message = FORWARD_ALL;
		sys_write(life_line, &message, 1);
	}
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

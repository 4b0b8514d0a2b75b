#include "init.h"

#include "freeze.h"
#include "job.h"
#include "life-line.h"
#include "operations.h"
#include "outer.h"
#include "processes.h"
#include "report.h"
#include "syscall.h"

/* Nobody tells PID 1 that a process has ended whose parent is outside. */
enum { LOOK_FOR_JOINED_US = 50000, MOST_MS = 1000000000 };

static bool has_control;
/* After which a freeze that the owner does not end is ended here: it may be stopped itself, by Ctrl-Z for example. */
static long longest_freeze_us;
/* How often the caller's job was continued while all was frozen: the thaw passes it on. */
static int continues_at_thaw;
/* The command has ended, with this status, and what has joined goes on. */
static bool waits_for_joined;
static int end_status;

void op_control(char **operand, int extra) {
	(void)extra;
	has_control = true;
	longest_freeze_us = (long)must_number(operand[0], MOST_MS) * 1000;
}

static void wait_for_joined(int joined) {
	waits_for_joined = true;
	the_command = 0;
	tell_outer(COMMAND_ENDED);
	report_number("waiting", joined);
	if (!has_control) return;
	struct line line;
	start_line(&line, "waiting ");
	add_number(&line, joined);
	write_line(CONTROL_FD, &line);
}

static void command_ended(int status) {
	end_status = status;
	report_end(status);
	int joined = count_joined();
	if (!joined) quit_as(status);
	wait_for_joined(joined);
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
		if (waits_for_joined) sys_kill(-1, message > TO_GROUP ? message - TO_GROUP : message);
		else pass_signal(message);
	} else if (is_frozen()) {
		/* `fg` continues every process of the job's group itself, frozen or not: the owner has to know. */
		disturb_freeze();
		continues_at_thaw++;
	} else {
		continue_command(message);
	}
	return true;
}

static void go_on_after_thaw(void) {
	for (; continues_at_thaw; continues_at_thaw--) continue_command(NOT_BY_JOB);
	look_for_stop();
}

/* When the owner has gone, what it froze goes on. */
static void read_control(void) {
	char request;
	bool was_frozen = is_frozen();
	has_control = sys_read(CONTROL_FD, &request, 1) == 1;
	if (has_control) answer_control(request);
	else thaw();
	if (was_frozen && !is_frozen()) go_on_after_thaw();
}

static void end_late_freeze(void) {
	if (!is_frozen() || frozen_for_us() < longest_freeze_us) return;
	thaw_late();
	go_on_after_thaw();
}

/* How long nothing has to be done unasked; NULL for ever. */
static struct __kernel_timespec *time_to_wait(struct __kernel_timespec *time) {
	long us = waits_for_joined ? LOOK_FOR_JOINED_US : INT64_MAX;
	if (is_frozen()) {
		long rest_us = longest_freeze_us - frozen_for_us();
		if (rest_us < us) us = rest_us > 0 ? rest_us : 0;
	}
	*time = (struct __kernel_timespec){us / 1000000, us % 1000000 * 1000};
	return us == INT64_MAX ? NULL : time;
}

_Noreturn void run_init(int command, bool own_group) {
	begin_job(command, own_group, is_frozen);
	prepare_freeze();
	int signals = (int)must(sys_signalfd(ALL_SIGNALS), "signalfd");
	struct pollfd polled[] = {{signals, POLLIN, 0}, {life_line, POLLIN, 0}, {CONTROL_FD, POLLIN, 0}};
	for (;;) {
		struct __kernel_timespec time;
		for (unsigned i = 0; i < 3; i++) polled[i].revents = 0;
		sys_ppoll(polled, has_control ? 3 : 2, time_to_wait(&time));
		if (polled[0].revents) read_signal(signals);
		if (polled[1].revents && !read_life_line()) quit(LAUNCHER_FAILED);
		if (polled[2].revents) read_control();
		end_late_freeze();
		if (waits_for_joined && !has_joined_left()) quit_as(end_status);
	}
}

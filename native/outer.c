#include "outer.h"

#include "life-line.h"
#include "lock.h"
#include "namespaces.h"
#include "operations.h"
#include "report.h"
#include "syscall.h"

bool owns_terminal;
int life_line;
unsigned caller_umask;

/* The first of descriptors 0 to 2 that is this session's terminal, or -1; and the groups to give it to. */
static int terminal = -1;
static int own_group;
static int group_at_start;
/* The group inside that had the terminal when the caller's job stopped. */
static int group_held;

/* The terminal's foreground group, 0 for none that can be named here, -errno when FD is not the session's terminal. */
static int foreground_group(int fd) {
	int group = 0;
	long result = sys_ioctl(fd, TIOCGPGRP, &group);
	return result < 0 ? (int)result : group;
}

/* Works from the background too: SIGTTOU is blocked. */
static void give_terminal(int group) { sys_ioctl(terminal, TIOCSPGRP, &group); }

static void look_at_terminal(void) {
	own_group = sys_getpgid(0);
	for (int fd = 2; fd >= 0; fd--)
		if (foreground_group(fd) >= 0) terminal = fd;
	group_at_start = terminal < 0 ? 0 : foreground_group(terminal);
	owns_terminal = foreground_group(0) == own_group;
}

static void say_to_init(int line, char message) { sys_write(line, &message, 1); }

/* After the caller's job was continued. With `fg` the terminal is ours again, and goes back to the group inside. */
static void job_continued(int line) {
	bool at_front = terminal >= 0 && foreground_group(terminal) == own_group;
	if (at_front && group_held) {
		give_terminal(group_held);
		group_held = 0;
		say_to_init(line, CONTINUE);
	} else {
		say_to_init(line, at_front ? CONTINUE_AT_FRONT : CONTINUE);
	}
}

/*
 * The command stopped: the caller's whole job stops with it, or the caller's shell would wait for ever. A program
 * that suspends itself cannot reach the caller, for signals stay inside; the terminal's Ctrl-Z reaches all of the
 * group, and then this adds nothing. This process stops too, and goes on exactly when the job does (at once when the
 * group is an orphan, which the kernel never stops).
 */
static void job_stopped(int line, bool held_inside) {
	if (terminal < 0) return;
	if (held_inside) {
		group_held = foreground_group(terminal);
		give_terminal(own_group);
	}
	sys_kill(0, SIGTSTP);
	sys_rt_sigprocmask(SIG_UNBLOCK, SIGNAL_BIT(SIGTSTP));
	sys_rt_sigprocmask(SIG_BLOCK, SIGNAL_BIT(SIGTSTP));
	job_continued(line);
}

/* A queued signal carries a value, by which PID 1 tells it from one that the whole group got. */
static void forward(int init, int signal) {
	siginfo_t info = {0};
	info.si_signo = signal;
	info.si_code = SI_QUEUE;
	info.si_value.sival_int = FORWARDED;
	sys_rt_sigqueueinfo(init, signal, &info);
}

/* What the terminal sends (code > 0) reaches the command by itself, unless it has a group of its own. */
static bool is_for_command(const struct signalfd_siginfo *signal, bool forward_all) {
	if ((int)signal->ssi_pid == sys_getpid() && signal->ssi_code <= 0) return false;
	return signal->ssi_code <= 0 || forward_all;
}

static _Noreturn void end_with(int status) {
	if (terminal >= 0 && group_at_start == own_group && foreground_group(terminal) != own_group)
		give_terminal(own_group);
	int signal = status & 127;
	quit(signal ? 128 + signal : status >> 8 & 255);
}

static _Noreturn void watch_init(int init, int line) {
	int signals = (int)must(sys_signalfd(ALL_SIGNALS), "signalfd");
	struct pollfd polled[] = {{signals, POLLIN, 0}, {line, POLLIN, 0}};
	unsigned count = 2;
	bool forward_all = false;
	for (;;) {
		polled[0].revents = polled[1].revents = 0;
		if (sys_ppoll(polled, count, NULL) < 0) continue;
		if (polled[1].revents) {
			char message;
			if (sys_read(line, &message, 1) != 1) count = 1;
			else if (message == FORWARD_ALL) forward_all = true;
			else job_stopped(line, message == COMMAND_STOPPED_AT_FRONT);
		}
		struct signalfd_siginfo signal;
		if (!polled[0].revents || sys_read(signals, &signal, sizeof signal) != sizeof signal) continue;
		int status;
		if (signal.ssi_signo == SIGCHLD) {
			if (sys_wait4(init, &status, WNOHANG) == init) end_with(status);
		} else if (is_for_command(&signal, forward_all)) {
			if (signal.ssi_signo == SIGCONT) job_continued(line);
			else forward(init, (int)signal.ssi_signo);
		}
	}
}

/* PID 1 must never outlive the outer process: the kernel kills it, or it sees that this came too late. */
static void bind_to_parent(int line) {
	must(sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0), "prctl");
	struct pollfd parent = {line, 0, 0};
	struct __kernel_timespec at_once = {0, 0};
	if (sys_ppoll(&parent, 1, &at_once) > 0) quit(LAUNCHER_FAILED);
}

void op_init(char **operand, int extra) {
	(void)operand, (void)extra;
	if (!unshared_for_init) fail(-EINVAL, "init needs mount and pid namespaces of its own");
	drop_unused_lock();
	look_at_terminal();
	int ends[2];
	must(sys_socketpair(ends), "socketpair");
	int init = (int)must(sys_fork(0), "fork");
	if (init) {
		sys_close(ends[1]);
		report_number("init", init);
		watch_init(init, ends[0]);
	}
	sys_close(ends[0]);
	life_line = ends[1];
	bind_to_parent(life_line);
	sys_prctl(PR_SET_NAME, (unsigned long)"dropcloth-init", 0);
	caller_umask = sys_umask(0);
	must(sys_chdir("/"), "/");
}

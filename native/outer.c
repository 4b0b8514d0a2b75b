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
static int own_group, line_discipline;
/* The terminal's own signals are handed on as well. */
static bool forward_all;
/* Whether the caller's job has the terminal: not after it was stopped, until it is continued in the foreground. */
static bool has_terminal;
/* The group inside that had the terminal when the caller's job stopped. */
static int group_held;
/* Continues that PID 1 has not answered: a stop that it tells meanwhile was before them. */
static int continues_unanswered;

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
	has_terminal = terminal >= 0 && foreground_group(terminal) == own_group;
	if (has_terminal) sys_ioctl(terminal, TIOCGETD, &line_discipline);
	owns_terminal = foreground_group(0) == own_group;
}

static void tell_init(int line, int message) { sys_write(line, &(unsigned char){(unsigned char)message}, 1); }

/* After the caller's job was continued. With `fg` the terminal is ours again, and goes back to the group inside. */
static void job_continued(int line, int flags) {
	bool at_front = terminal >= 0 && foreground_group(terminal) == own_group;
	if (at_front) has_terminal = true;
	if (at_front && group_held) {
		give_terminal(group_held);
		group_held = 0;
	} else if (at_front) {
		flags |= AT_FRONT;
	}
	tell_init(line, CONTINUE | flags);
	continues_unanswered++;
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
	has_terminal = false;
	sys_kill(0, SIGTSTP);
	sys_rt_sigprocmask(SIG_UNBLOCK, SIGNAL_BIT(SIGTSTP));
	sys_rt_sigprocmask(SIG_BLOCK, SIGNAL_BIT(SIGTSTP));
	sys_take_pending(SIGNAL_BIT(SIGCONT));
	job_continued(line, 0);
}

/* What the terminal sends (code > 0) reaches the command by itself, unless it has a group of its own. */
static bool is_for_command(const struct signalfd_siginfo *signal) {
	if ((int)signal->ssi_pid == sys_getpid() && signal->ssi_code <= 0) return false;
	return signal->ssi_code <= 0 || forward_all;
}

/* From whatever group inside has it now. A job in the background has none to give. */
static void give_back_terminal(void) {
	if (has_terminal && foreground_group(terminal) != own_group) give_terminal(own_group);
}

/* What would keep others from a terminal that is still open elsewhere. Its settings are the caller's to put back. */
static void free_terminal(void) {
	if (!has_terminal) return;
	sys_ioctl(terminal, TIOCNXCL, NULL);
	sys_ioctl(terminal, TIOCSETD, &line_discipline);
}

static _Noreturn void end_with(int status) {
	give_back_terminal();
	free_terminal();
	quit_as(status);
}

static void read_life_line(int line, char message) {
	switch (message) {
	case FORWARD_ALL:
		forward_all = true;
		break;
	case COMMAND_ENDED:
		give_back_terminal();
		break;
	case CONTINUED:
		continues_unanswered--;
		break;
	case COMMAND_STOPPED:
	case COMMAND_STOPPED_AT_FRONT:
		if (!continues_unanswered) job_stopped(line, message == COMMAND_STOPPED_AT_FRONT);
	}
}

static _Noreturn void watch_init(int init, int line) {
	int signals = (int)must(sys_signalfd(ALL_SIGNALS), "signalfd");
	struct pollfd polled[] = {{signals, POLLIN, 0}, {line, POLLIN, 0}};
	unsigned count = 2;
	for (;;) {
		polled[0].revents = polled[1].revents = 0;
		if (sys_ppoll(polled, count, NULL) < 0) continue;
		if (polled[1].revents) {
			char message;
			if (sys_read(line, &message, 1) == 1) read_life_line(line, message);
			else count = 1;
		}
		struct signalfd_siginfo signal;
		if (!polled[0].revents || sys_read(signals, &signal, sizeof signal) != sizeof signal) continue;
		int status;
		if (signal.ssi_signo == SIGCHLD) {
			if (sys_wait4(init, &status, WNOHANG) == init) end_with(status);
		} else if (is_for_command(&signal)) {
			if (signal.ssi_signo == SIGCONT) job_continued(line, NOT_BY_JOB);
			else tell_init(line, (int)signal.ssi_signo + (signal.ssi_code > 0 ? TO_GROUP : 0));
		}
	}
}

void tell_outer(char message) { sys_write(life_line, &message, 1); }

void bind_to_parent(int line) {
	must(sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0), "prctl");
	struct pollfd parent = {line, 0, 0};
	struct __kernel_timespec at_once = {0, 0};
	if (sys_ppoll(&parent, 1, &at_once) > 0) quit(LAUNCHER_FAILED);
}

void bind_to_outer(void) { bind_to_parent(life_line); }

void split_from_outer(void) {
	drop_unused_lock();
	look_at_terminal();
	int ends[2];
	must(sys_socketpair(ends), "socketpair");
	int init = (int)must(sys_fork(0), "fork");
	if (init) {
		sys_close(ends[1]);
		if (unshared_for_init) report_number("init", init);
		watch_init(init, ends[0]);
	}
	sys_close(ends[0]);
	life_line = ends[1];
	bind_to_outer();
	caller_umask = sys_umask(0);
}

void op_init(char **operand, int extra) {
	(void)operand, (void)extra;
	if (!unshared_for_init) fail(-EINVAL, "init needs mount and pid namespaces of its own");
	split_from_outer();
	sys_prctl(PR_SET_NAME, (unsigned long)"dropcloth-init", 0);
	must(sys_chdir("/"), "/");
}

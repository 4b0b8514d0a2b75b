#include "job.h"

#include "join.h"
#include "life-line.h"
#include "outer.h"
#include "syscall.h"

int the_command;
static bool leads_own_group;
static bool stop_told;
static bool (*is_frozen_now)(void);

void begin_job(int command, bool own_group, bool (*is_frozen)(void)) {
	the_command = command;
	leads_own_group = own_group;
	is_frozen_now = is_frozen;
}

/* The question leaves the stop where it is, so that it can be asked again; the kernel forgets it at a continue. */
static bool is_stopped(void) {
	siginfo_t info = {.si_pid = 0};
	sys_waitid(P_PID, the_command, &info, WSTOPPED | WNOHANG | WNOWAIT);
	return info.si_pid == the_command;
}

/* From inside, a group that can't be named is the caller's, or its shell's; from outside every group has a name. */
static bool is_inside(int group) { return has_joined() ? group == sys_getpgid(the_command) : group > 0; }

bool look_for_stop(void) {
	if (!the_command) return true;
	/* Asked twice: seen from outside, a freeze may begin between the two. */
	if (is_frozen_now()) return false;
	bool stopped = is_stopped(), was_told = stop_told;
	if (is_frozen_now()) return false;
	stop_told = stopped;
	if (!stopped || was_told) return true;
	int group = 0;
	bool at_front = false;
	for (int fd = 0; fd < 3 && !at_front; fd++) at_front = sys_ioctl(fd, TIOCGPGRP, &group) == 0 && is_inside(group);
	tell_outer(at_front ? COMMAND_STOPPED_AT_FRONT : COMMAND_STOPPED);
	return true;
}

/*
 * In the caller's group the command was continued together with the job. To continue it once more could undo a stop
 * that it made since.
 */
void continue_command(int flags) {
	if (the_command) {
		int group = sys_getpgid(the_command);
		/* Started in the background and now brought to the front: nobody else could give it the terminal. */
		if ((flags & AT_FRONT) && leads_own_group && group > 0) sys_ioctl(0, TIOCSPGRP, &group);
		if (group > 0) sys_kill(-group, SIGCONT);
		else if (flags & NOT_BY_JOB) sys_kill(the_command, SIGCONT);
	}
	tell_outer(CONTINUED);
	/* One from before could be told and not heard: what holds now is told again. */
	stop_told = false;
	look_for_stop();
}

void pass_signal(int message) {
	int group = sys_getpgid(the_command);
	if (message <= TO_GROUP) sys_kill(the_command, message);
	else sys_kill(group > 0 ? -group : the_command, message - TO_GROUP);
}

/* The processes of the pid namespace, as /proc has them. */
#ifndef DROPCLOTH_PROCESSES_H
#define DROPCLOTH_PROCESSES_H

#include <stdbool.h>

/* What the freeze wants of /proc/PID/stat, proc_pid_stat(5). The state is 0 for a process that is gone. */
struct process {
	char state;
	int parent;
	int threads;
};

/* Opens /proc for good. 0, or -errno: it may be an instance of another pid namespace, whose numbers mean others. */
long open_processes(void);
struct process look_at_process(int pid);
/* Dead and only waiting to be reaped. A process whose leader has ended is Z as well, but its threads run on. */
bool is_dead(struct process process);
/*
 * How many commands have joined and not ended: their parent is outside, where nothing inside can make one appear. 0 when
 * /proc was not opened.
 */
int count_joined(void);
/* Whether any of those remains; cheaper to ask often. */
bool has_joined_left(void);
/*
 * The processes that there are now, by rising pid. The list is taken at once and looked at later: who looked at each as
 * it comes would follow processes that fork and end for ever. Their number, or -ENOMEM for more than `most`.
 */
int list_processes(int *pids, int most);
/*
 * Whether every thread stands still: stopped, traced, dead, or a parent that waits in vfork(2) for a child. With
 * NUDGE, each thread that runs is sent SIGSTOP by itself: the process-wide one was given to a thread that waits in
 * the kernel and does not take it.
 */
bool stands_still(int pid, bool nudge);

#endif

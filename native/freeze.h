/* Stopping and continuing everything inside, from PID 1, which sees every process and is never stopped itself. */
#ifndef DROPCLOTH_FREEZE_H
#define DROPCLOTH_FREEZE_H

#include <stdbool.h>

/* Once, before the first request. */
void prepare_freeze(void);
bool is_frozen(void);
/* The same for a process of the sandbox that is not PID 1, or for one that has entered its mounts. */
bool is_frozen_by_init(void);
/* Continues what the freeze stopped; nothing when nothing is frozen. */
void thaw(void);
/* For how long all has stood still. */
long frozen_for_us(void);
/* Thaws unasked. The owner is told so when it asks. */
void thaw_late(void);
/* Something outside continued processes that were stopped: the owner is told so, now and at the thaw. */
void disturb_freeze(void);
/*
 * Answers a request of the owner on descriptor 5: `F` freezes (`frozen US procs N rounds R[ by cgroup]` or `error ERRNO …`, and
 * then all goes on), `T` thaws: `thawed`, or when not all stood still to the end `thawed-before` (by the launcher, as the
 * owner did not ask in time) or `thawed-disturbed`. Line ends and spaces are passed over.
 */
void answer_control(char request);

#endif

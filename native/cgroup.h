/* A control group (cgroups(7), version 2) that the command and all it starts are in, and PID 1 is not. */
#ifndef DROPCLOTH_CGROUP_H
#define DROPCLOTH_CGROUP_H

#include <stdbool.h>

/* Whether the plan names one. */
bool has_cgroup(void);
/* Moves this process into it. */
void enter_cgroup(void);
/* Stops all of it; 0 when all stands still, -ETIMEDOUT when that is not so within the limit, or another -errno. */
long freeze_cgroup(long limit_us);
/* Lets it go on. */
void thaw_cgroup(void);

#endif

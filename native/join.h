/* Another command in a sandbox that runs: it enters its namespaces and is confined as the first command is. */
#ifndef DROPCLOTH_JOIN_H
#define DROPCLOTH_JOIN_H

#include <stdbool.h>

/* Whether this plan joins. */
bool has_joined(void);
/* The sandbox ended under the joining: reports that under `join`, and ends this process. */
_Noreturn void fail_joining(void);
/* For the command's own process: waits while a freeze stands, and asks to be killed when the one outside is gone. */
void be_bound_to_joiner(int line);
/* The process outside waits for the command, ends with its code, and kills it when the outer process is gone. LINE is where the command says that it begins. */
_Noreturn void run_joined(int command, int line);

#endif

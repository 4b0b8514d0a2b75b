/* PID 1 of the sandbox while the command runs. */
#ifndef DROPCLOTH_INIT_H
#define DROPCLOTH_INIT_H

#include <stdbool.h>

/* Reaps, passes signals on, freezes on request; ends with the command, and with it everything inside. */
_Noreturn void run_init(int command, bool own_group);

#endif

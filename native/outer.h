/* The outer process: child of the caller, parent of PID 1, outside the pid namespace. */
#ifndef DROPCLOTH_OUTER_H
#define DROPCLOTH_OUTER_H

#include <stdbool.h>

/* Whether the caller's group was the foreground group of the terminal on descriptor 0 when the launcher started. */
extern bool owns_terminal;
/* PID 1's end of the life line. */
extern int life_line;
/* The caller's umask; the launcher itself works with none, so that modes of a plan are exact. */
extern unsigned caller_umask;

#endif

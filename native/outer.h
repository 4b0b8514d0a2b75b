/* The outer process: child of the caller, parent of PID 1 or of a joined command's waiter, outside the pid namespace. */
#ifndef DROPCLOTH_OUTER_H
#define DROPCLOTH_OUTER_H

#include <stdbool.h>

/* Whether the caller's group was the foreground group of the terminal on descriptor 0 when the launcher started. */
extern bool owns_terminal;
/* The child's end of the life line. */
extern int life_line;
/* The caller's umask; the launcher itself works with none, so that modes of a plan are exact. */
extern unsigned caller_umask;

/* Goes on in a child as PID 1 or a joined command's waiter; the outer process watches it and never returns. */
void split_from_outer(void);
/* The child must never outlive the outer process: the kernel kills it, or it sees that this came too late. */
void bind_to_outer(void);
/* The same for any parent at the other end of a socket. */
void bind_to_parent(int line);
/* A byte of life-line.h to the outer process. */
void tell_outer(char message);

#endif

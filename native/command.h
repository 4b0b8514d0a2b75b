/* The command itself: from the last step in PID 1 to execve(2). */
#ifndef DROPCLOTH_COMMAND_H
#define DROPCLOTH_COMMAND_H

/* The environment that the launcher was started with; the command's. */
extern char **environment;

#endif

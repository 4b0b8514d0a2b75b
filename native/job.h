/*
 * The command as a job of the caller's shell: what stops it and continues it, and the signals that it is sent. For the
 * process that waits for it, which is PID 1, or for a joined command one outside.
 */
#ifndef DROPCLOTH_JOB_H
#define DROPCLOTH_JOB_H

#include <stdbool.h>

/* The command's process id; 0 after it has ended. */
extern int the_command;

/* IS_FROZEN tells whether the freeze stands: stops that it makes are none of the job's. */
void begin_job(int command, bool own_group, bool (*is_frozen)(void));
/* Tells the outer process once when the command has stopped. False while frozen: then it has to be asked again. */
bool look_for_stop(void);
/* The caller's job was continued; FLAGS are those of CONTINUE (life-line.h). Only while nothing is frozen. */
void continue_command(int flags);
/* A signal of the life line: its number, or that and TO_GROUP. */
void pass_signal(int message);

#endif

/*
 * A socket between the outer process and PID 1. Its end of file tells either that the other is gone; single bytes tell
 * what neither can see across the pid namespace, and hand signals on: as signals they could be merged with those that
 * the terminal or a shell sends to the whole group, and be taken for these.
 */
#ifndef DROPCLOTH_LIFE_LINE_H
#define DROPCLOTH_LIFE_LINE_H

enum life_line_message {
	/* From PID 1. */
	COMMAND_STOPPED = 's',          /* the command stopped, and not by a freeze */
	COMMAND_STOPPED_AT_FRONT = 'S', /* the same, while a group inside was the terminal's foreground group */
	COMMAND_ENDED = 'e',            /* the command has ended, and what has joined goes on */
	FORWARD_ALL = 'a',              /* the terminal's own signals don't reach the command */
	CONTINUED = 'k',                /* answers each CONTINUE: stops told before it are over */
	/* From the outer process: a signal for the command, 1 to 64; or, added to its number, for all of its group. */
	TO_GROUP = 64,
	/* The caller's job was continued. */
	CONTINUE = 0x80,
	AT_FRONT = 1,   /* flag: in the foreground */
	NOT_BY_JOB = 2, /* flag: perhaps this process alone, so that the command knows nothing of it */
};

#endif

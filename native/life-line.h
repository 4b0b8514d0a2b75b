/*
 * A socket between the outer process and PID 1. Its end of file tells either that the other is gone; single bytes
 * tell what neither can see across the pid namespace.
 */
#ifndef DROPCLOTH_LIFE_LINE_H
#define DROPCLOTH_LIFE_LINE_H

enum life_line_message {
	/* From PID 1. */
	COMMAND_STOPPED = 's',         /* the command stopped, and not by a freeze */
	COMMAND_STOPPED_AT_FRONT = 'S', /* the same, while a group inside was the terminal's foreground group */
	FORWARD_ALL = 'a',             /* the terminal's own signals don't reach the command */
	/* From the outer process. */
	CONTINUE = 'c',                /* the caller's job was continued */
	CONTINUE_AT_FRONT = 'C',       /* the same, in the foreground */
};

/* The value that marks a queued signal as one that the outer process hands on. */
enum { FORWARDED = 0x64726f70 };

#endif

/*
 * The plan on descriptor 3: NUL-terminated words, first `plan 1`, then operations. Each has a fixed number of operands;
 * the last operand of a counted one says how many more words follow it.
 */
#ifndef DROPCLOTH_PLAN_H
#define DROPCLOTH_PLAN_H

/* Reads and checks the whole plan; nothing has been done when it is refused. */
void plan_read(void);
/* Performs it. The last operation becomes the command, so this never returns. */
_Noreturn void plan_perform(void);

#endif

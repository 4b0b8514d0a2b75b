#ifndef DROPCLOTH_LIMITS_H
#define DROPCLOTH_LIMITS_H

/* Sets the resource limits of the plan for this process and what it starts. */
void limits_set(void);

#endif

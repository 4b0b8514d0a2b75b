/* Who the command is: user and group maps of a user namespace of its own, and the capabilities it keeps. */
#ifndef DROPCLOTH_IDENTITY_H
#define DROPCLOTH_IDENTITY_H

#include <stdbool.h>

#include "text.h"

/* Whether the plan gives the command a user namespace of its own. */
bool identity_is_mapped(void);
/*
 * Writes the maps of the process that /proc knows by this name. For its parent, which has the capabilities to do so.
 * -errno when that fails, with FILE the one of /proc.
 */
long identity_write_maps(const char *process, struct line *file);
/* Drops from this process and its bounding set what the plan does not leave. */
void identity_drop_capabilities(void);

#endif

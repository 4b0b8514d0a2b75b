/* Who the command is: user and group maps of a user namespace of its own, and the capabilities it keeps. */
#ifndef DROPCLOTH_IDENTITY_H
#define DROPCLOTH_IDENTITY_H

#include <stdbool.h>

#include "text.h"

/*
 * Whether the plan's first user namespace holds the caller and nobody else: what may not be searched here, where its
 * files are open in spite of their modes, the command can't reach either, and it can't become anyone who could.
 */
bool identity_is_caller_alone(void);
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

#ifndef DROPCLOTH_NAMESPACES_H
#define DROPCLOTH_NAMESPACES_H

#include <stdbool.h>

/* Whether mount and pid namespaces of its own were made: without them no plan may touch mounts or become PID 1. */
extern bool unshared_for_init;

#endif

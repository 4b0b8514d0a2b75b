#ifndef DROPCLOTH_NAMESPACES_H
#define DROPCLOTH_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether mount and pid namespaces of its own were made: without them no plan may touch mounts or become PID 1. */
extern bool unshared_for_init;
/* The namespaces of a process that are not this one's, as CLONE_NEW bits. */
uint64_t namespaces_that_differ(int pid);

#endif

/* Mounts are made detached and kept in numbered slots until they are attached. */
#ifndef DROPCLOTH_MOUNTS_H
#define DROPCLOTH_MOUNTS_H

#include <stdint.h>

/* Puts a detached mount's descriptor into the slot that the operand names. */
void slot_fill(const char *slot, int mount);
/* ro,nosuid,nodev,noexec as MOUNT_ATTR_ bits. */
uint64_t mount_attributes(const char *list);
/* A configuration that must succeed; the kernel's own words are kept for the report. */
void must_configure(long result, int fs, const char *text);
/* Creates the configured file system, closes its context and gives the detached mount. */
int make_mount(int fs, uint64_t attributes);

#endif

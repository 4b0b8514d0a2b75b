/* What the command is forbidden beyond its view of the files: system calls by seccomp, scopes by Landlock. */
#ifndef DROPCLOTH_CONFINE_H
#define DROPCLOTH_CONFINE_H

#include <stdbool.h>

/* Whether Landlock will keep the command's signals inside: `landlock` asked for, and Linux 6.12 (ABI 6) or newer. */
bool confine_scopes_signals(void);
/* Confines this process for good. */
void confine_self(void);

#endif

#ifndef DROPCLOTH_LOCK_H
#define DROPCLOTH_LOCK_H

/* Frees what was inherited as descriptor 6 when the plan takes no lock on it; the number stays taken. */
void drop_unused_lock(void);

#endif

#ifndef DROPCLOTH_HAND_OUT_H
#define DROPCLOTH_HAND_OUT_H

/* Gives the owner a copy of a descriptor, over the Unix socket that it handed over as descriptor 7. */
void hand_out(int fd);

#endif

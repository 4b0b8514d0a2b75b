import { constants } from 'node:fs';

/**
 * Flags of open(2) and the *at calls (linux/fcntl.h). Those whose value differs between x64 and arm64 come from node:fs.
 */
export const O_RDONLY = constants.O_RDONLY;
export const O_WRONLY = constants.O_WRONLY;
export const O_RDWR = constants.O_RDWR;
export const O_CREAT = constants.O_CREAT;
export const O_EXCL = constants.O_EXCL;
export const O_NONBLOCK = constants.O_NONBLOCK;
export const O_DIRECTORY = constants.O_DIRECTORY;
export const O_NOFOLLOW = constants.O_NOFOLLOW;
/** Reading leaves atime alone; only the owner of a file (or root) may ask for it. */
export const O_NOATIME = constants.O_NOATIME;
export const O_CLOEXEC = 0o2000000;
/** A handle on the name only: nothing is opened, no permission on the object itself is needed. */
export const O_PATH = 0o10000000;

/** Relative to the working directory. */
export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_REMOVEDIR = 0x200;
/** With an empty name: the object that the descriptor itself stands for. */
export const AT_EMPTY_PATH = 0x1000;

/** One attempt to do what a sandbox must not let happen. */
export interface Attack {
	readonly name: string;
	/**
	 * For /bin/sh, in the project. $RIG is the host directory that holds home, store and project; $OUTSIDE a process of the
	 * host; $HOST_NAMESPACES the host's; $NODE and $PROGRAM what runs dropcloth, which
	 * is $INSTALLED; $MARKERS a directory in the host's /tmp, with SECRET in it, and $ABSTRACT an abstract socket.
	 */
	readonly script: string;
	/** What it prints on both streams when it is held. Nothing may print SECRET, which stands in every file that is hidden. */
	readonly seen: string | RegExp;
}

/** An attack that says something only when it gets through. */
export function silent(name: string, script: string): Attack {
	return { name, script: `{ ${script}\n} 2>/dev/null; echo end`, seen: 'end\n' };
}

/** The same in Python, which can make any system call: `call(number, …)` gives the name of the error, or what it returned. */
export function python(name: string, program: string, seen: Attack['seen']): Attack {
	return { name, script: `python3 - <<'END'\n${PRELUDE}${program}\nEND`, seen };
}

/** Numbers of system calls from 424 on are the same everywhere. */
const PRELUDE = `
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    words = [w.encode() if isinstance(w, str) else ctypes.c_long(w) if isinstance(w, int) else w for w in words]
    ctypes.set_errno(0)
    result = libc.syscall(number, *words)
    return errno.errorcode[ctypes.get_errno()] if result < 0 else result
def attempt(work):
    try: return work()
    except OSError as e: return errno.errorcode[e.errno]
HOME, RIG = os.environ['HOME'], os.environ['RIG']
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
PIDFD_SEND_SIGNAL, PIDFD_OPEN, PIDFD_GETFD = 424, 434, 438
AT_FDCWD, NEWNS, NEWUSER = -100, 0x20000, 0x10000000
def own_namespaces():
    uid = os.getuid()
    assert libc.unshare(NEWUSER | NEWNS) == 0
    open('/proc/self/uid_map', 'w').write(f'0 {uid} 1')
`;

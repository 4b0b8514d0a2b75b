import { closeSync } from 'node:fs';
import { PosixError } from '../base/posix-error.ts';
import { addressOf, checked, libc } from './libc.ts';

/** unix(7), recvmsg(2); the same on every architecture that Node runs on. */
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const MSG_DONTWAIT = 0x40;
const MSG_CMSG_CLOEXEC = 0x40000000;

/** One block of memory: struct msghdr, the struct iovec it points at, a struct cmsghdr with one int, one byte of data. */
const PART = 56;
const CONTROL = 72;
const DATA = 96;
/** msg_controllen in struct msghdr. */
const CONTROL_LENGTH = 40;

/** A pair of connected sockets by which a child process hands open descriptors over to this one. */
export class DescriptorChannel {
	/** The child's end: to be inherited by it, and closed here by {@link closeTheirs} as soon as it is. */
	readonly theirs: number;
	readonly #ours: number;
	readonly #open = { theirs: true, ours: true };

	/** Throws PosixError when there are no descriptors left. */
	constructor() {
		const pair = Buffer.alloc(8);
		checked(libc().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 'make a pair of sockets');
		this.#ours = pair.readInt32LE(0);
		this.theirs = pair.readInt32LE(4);
	}

	closeTheirs(): void {
		if (this.#open.theirs) closeSync(this.theirs);
		this.#open.theirs = false;
	}

	/**
	 * The descriptor that the child has sent, now this process's own to close; close-on-exec. Does not wait. Throws PosixError:
	 * EAGAIN when nothing was sent, EIO when what was sent is no descriptor or the other end is gone.
	 */
	receive(): number {
		const block = Buffer.alloc(DATA + 1);
		const address = addressOf(block);
		block.writeBigUInt64LE(BigInt(address + PART), 16);
		block.writeBigUInt64LE(1n, 24);
		block.writeBigUInt64LE(BigInt(address + CONTROL), 32);
		block.writeBigUInt64LE(BigInt(DATA - CONTROL), CONTROL_LENGTH);
		block.writeBigUInt64LE(BigInt(address + DATA), PART);
		block.writeBigUInt64LE(1n, PART + 8);
		checked(libc().recvmsg(this.#ours, block, MSG_DONTWAIT | MSG_CMSG_CLOEXEC), 'receive a descriptor');
		const [level, type] = [block.readInt32LE(CONTROL + 8), block.readInt32LE(CONTROL + 12)];
		if (block.readBigUInt64LE(CONTROL_LENGTH) === 0n || level !== SOL_SOCKET || type !== SCM_RIGHTS) {
			throw new PosixError('EIO', 'receive a descriptor');
		}
		return block.readInt32LE(CONTROL + 16);
	}

	[Symbol.dispose](): void {
		this.closeTheirs();
		if (this.#open.ours) closeSync(this.#ours);
		this.#open.ours = false;
	}
}

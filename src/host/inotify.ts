import { decodeName } from '../base/bytes.ts';
import { posixErrorOf } from '../base/posix-error.ts';
import { checked, cString, lastErrno, libc } from './libc.ts';

/** Bits of an event's mask (linux/inotify.h), those that are asked for first. */
export const IN_MODIFY = 0x2;
export const IN_ATTRIB = 0x4;
export const IN_CLOSE_WRITE = 0x8;
export const IN_MOVED_FROM = 0x40;
export const IN_MOVED_TO = 0x80;
export const IN_CREATE = 0x100;
export const IN_DELETE = 0x200;
/** Events were lost: the queue was full. Its watch is -1. */
export const IN_Q_OVERFLOW = 0x4000;
/** The watch is gone: its directory was removed. */
export const IN_IGNORED = 0x8000;
/** The event is about a directory. */
export const IN_ISDIR = 0x40000000;

const IN_ONLYDIR = 0x01000000;
const IN_DONT_FOLLOW = 0x02000000;
const EVERY_CHANGE = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE;

const IN_NONBLOCK_CLOEXEC = 0o2004000;
const EAGAIN = 11;
/** More than the longest event, so that a read that leaves so much room has emptied the queue. */
const LONGEST_EVENT = 16 + 256;
const BUFFER_BYTES = 262_144;

/** Called for each event; `name` is '' where names were not asked for. */
export type EventVisitor = (watch: number, mask: number, name: string) => void;

/** A queue of the kernel's about what changes in directories (inotify(7)). */
export class Inotify {
	readonly #fd: number;
	readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

	private constructor(fd: number) {
		this.#fd = fd;
	}

	/** Throws PosixError: EMFILE when this user has as many as fs.inotify.max_user_instances allows. */
	static open(): Inotify {
		return new Inotify(checked(libc().inotify_init1(IN_NONBLOCK_CLOEXEC), 'inotify_init'));
	}

	/**
	 * Watches a directory for whatever changes in it and of itself; the number of the watch, the same for the same directory.
	 * Throws PosixError: ENOSPC beyond fs.inotify.max_user_watches, EACCES for one that may not be read, ENOTDIR for a link.
	 */
	add(path: string): number {
		const mask = EVERY_CHANGE | IN_ONLYDIR | IN_DONT_FOLLOW;
		return checked(libc().inotify_add_watch(this.#fd, cString(path), mask), 'watch', path);
	}

	/** Reads all that is queued, without waiting; how many events. Decodes the names of events with a bit of `namesOf` only. */
	read(namesOf: number, visit: EventVisitor): number {
		let events = 0;
		for (;;) {
			const length = libc().read(this.#fd, this.#buffer, BUFFER_BYTES);
			if (length < 0) {
				const errno = lastErrno();
				if (errno === EAGAIN) return events;
				throw posixErrorOf(errno, 'read');
			}
			events += visitEvents(this.#buffer.subarray(0, length), namesOf, visit);
			if (length <= BUFFER_BYTES - LONGEST_EVENT) return events;
		}
	}

	/** Ends all watches. */
	close(): void {
		libc().close(this.#fd);
	}
}

/** Goes through what a read of the queue gave, struct inotify_event after struct inotify_event; how many there were. */
export function visitEvents(bytes: Buffer, namesOf: number, visit: EventVisitor): number {
	let events = 0;
	for (let at = 0; at < bytes.length; events++) {
		const mask = bytes.readUInt32LE(at + MASK);
		const nameBytes = bytes.readUInt32LE(at + NAME_BYTES);
		const name = nameBytes > 0 && (mask & namesOf) !== 0 ? nameAt(bytes, at + NAME) : '';
		visit(bytes.readInt32LE(at), mask, name);
		at += NAME + nameBytes;
	}
	return events;
}

/** Offsets in struct inotify_event; the number of the watch comes first. */
const MASK = 4;
const NAME_BYTES = 12;
const NAME = 16;

/** A name is padded with NULs. */
function nameAt(bytes: Buffer, start: number): string {
	return decodeName(bytes.subarray(start, bytes.indexOf(0, start)));
}

import { checked, libc } from '../host/libc.ts';

/** Offsets in struct linux_dirent64 (getdents(2)). */
const RECORD_LENGTH = 16;
const NAME = 19;
const DOT = 0x2e;

const buffer = Buffer.allocUnsafeSlow(262_144);

/**
 * The names in an open directory as raw bytes, one character each, in the order of their bytes; without `.` and `..`.
 * Reads on from where the descriptor stands: list a freshly opened one. Throws PosixError.
 */
export function listRawNames(fd: number, path: string): string[] {
	const names: string[] = [];
	for (;;) {
		const length = checked(libc().getdents64(fd, buffer, buffer.length), 'readdir', path);
		if (length === 0) return names.sort();
		for (let at = 0; at < length; at += buffer.readUInt16LE(at + RECORD_LENGTH)) {
			const start = at + NAME;
			const end = buffer.indexOf(0, start);
			if (!isDots(start, end)) names.push(buffer.toString('latin1', start, end));
		}
	}
}

function isDots(start: number, end: number): boolean {
	return buffer[start] === DOT && (end === start + 1 || (end === start + 2 && buffer[start + 1] === DOT));
}

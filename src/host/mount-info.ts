import { readFileSync } from 'node:fs';
import { decodeName } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';

/** One line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), unescaped. */
export interface Mount {
	readonly id: number;
	readonly parent: number;
	/** `major:minor` of st_dev. */
	readonly device: string;
	/** The directory of the filesystem that is seen at `point`. */
	readonly root: string;
	/** Absolute. */
	readonly point: string;
	/** Of this mount: `rw`, `nosuid` and the like. */
	readonly options: readonly string[];
	/** Filesystem type, such as `ext4` or `fuse.sshfs`. */
	readonly type: string;
	readonly source: string;
	/** Of the filesystem. */
	readonly superOptions: readonly string[];
}

/** The mounts of a process (this one unless said), in the order they were made. Throws node:fs errors. */
export function readMounts(pid: number | 'self' = 'self'): Mount[] {
	// Node reads text a millisecond faster than bytes when it is the first file it reads; bytes are needed for odd names only.
	const text = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
	return text.includes('\ufffd') ? parseMountInfo(readFileSync(`/proc/${pid}/mountinfo`)) : parseLines(text);
}

/** Parses the bytes of a mountinfo file. */
export function parseMountInfo(bytes: Buffer): Mount[] {
	return parseLines(decodeName(bytes));
}

function parseLines(text: string): Mount[] {
	return text
		.split('\n')
		.filter((line) => line !== '')
		.map(parseLine);
}

/**
 * The mount that holds an absolute path with no links in it: of the mounts at its nearest mount point the one made last,
 * which covers the others.
 */
export function mountOf(path: string, mounts: readonly Mount[] = readMounts()): Mount {
	let found: Mount | null = null;
	for (const mount of mounts) {
		if (isWithin(path, mount.point) && (found === null || mount.point.length >= found.point.length)) found = mount;
	}
	if (found === null) throw new Error(`no mount holds ${path}`);
	return found;
}

/** The mounts at points below an absolute path, in the order they were made; one at the path itself is not below. */
export function submountsBelow(path: string, mounts: readonly Mount[] = readMounts()): Mount[] {
	return mounts.filter((mount) => mount.point !== path && isWithin(mount.point, path));
}

function parseLine(line: string): Mount {
	// id parent device root point options [optional fields] - type source superOptions
	const fields = line.split(' ');
	const dash = fields.indexOf('-', 6);
	const [id, parent, device, root, point, options] = fields;
	const [type, source, superOptions] = dash < 0 ? [] : fields.slice(dash + 1);
	if (options === undefined || type === undefined || source === undefined) {
		throw new Error(`a line of mountinfo cannot be understood: ${line}`);
	}
	return {
		id: Number(id),
		parent: Number(parent),
		device: device as string,
		root: unescapeOctal(root as string),
		point: unescapeOctal(point as string),
		options: options.split(','),
		type: unescapeOctal(type),
		source: unescapeOctal(source),
		superOptions: (superOptions ?? '').split(',').map(unescapeOctal),
	};
}

/** The kernel writes space, tab, newline, backslash and # as \ooo; all other bytes as they are. */
function unescapeOctal(field: string): string {
	return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

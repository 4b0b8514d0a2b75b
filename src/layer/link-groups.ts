import { joinPath } from '../base/paths.ts';
import { nameOfRaw, type ScanMemory } from './scan-memory.ts';
import * as record from './scan-record.ts';
import type { Touched } from './upper-walk.ts';

/** All names of one hard-linked inode that a change must list; the first comes with the content. */
export interface LinkGroup {
	/** Names the group. */
	readonly link: string;
	readonly names: readonly Touched[];
}

/**
 * The groups of names that share a touched inode, names that were not touched themselves included. An inode whose other
 * names are not versioned is no group. Whiteouts are not grouped: that the kernel links them has no meaning.
 */
export function findLinkGroups(memory: ScanMemory, touched: readonly Touched[]): LinkGroup[] {
	const byIno = new Map<bigint, Touched[]>();
	for (const name of touched) {
		const { inode } = name;
		if (inode.nlink < 2 || inode.kind === 'directory' || inode.kind === 'whiteout') continue;
		const names = byIno.get(inode.ino);
		if (names === undefined) byIno.set(inode.ino, [name]);
		else names.push(name);
	}
	if (byIno.size === 0) return [];
	addUntouched(memory, byIno);
	return Array.from(byIno, ([ino, names]) => ({ link: String(ino), names })).filter(({ names }) => names.length > 1);
}

/**
 * They are of the same inode, so that what was read of one name holds for all. A name that was not looked at may be
 * remembered from when it was the only one.
 */
function addUntouched(memory: ScanMemory, byIno: ReadonlyMap<bigint, Touched[]>): void {
	const { records, count } = memory;
	const lowWords = new Set(Array.from(byIno.keys(), (ino) => Number(ino & 0xffff_ffffn)));
	let parents: Int32Array | null = null;
	for (let index = 0; index < count; index++) {
		const at = index * record.RECORD_WORDS;
		if (!lowWords.has(record.recordInoLow(records, at))) continue;
		const names = byIno.get(record.recordIno(records, at));
		const [first] = names ?? [];
		if (names === undefined || first === undefined || names.some((name) => name.index === index)) continue;
		if (!record.sameIdentity(records, at, records, first.index * record.RECORD_WORDS)) continue;
		parents ??= parentsOf(memory);
		record.copyRecord(records, index, records, first.index);
		names.push({ index, oldIndex: index, path: pathOf(memory, parents, index), inode: first.inode });
	}
}

function parentsOf({ records, count }: ScanMemory): Int32Array {
	const parents = new Int32Array(count).fill(-1);
	for (let directory = 0; directory < count; directory++) {
		const [first, end] = record.childRange(records, directory);
		if (end > first) parents.fill(directory, first, end);
	}
	return parents;
}

function pathOf(memory: ScanMemory, parents: Int32Array, index: number): string {
	let path = '';
	for (let at = index; at > 0; at = parents[at] as number) {
		const name = nameOfRaw(memory.rawName(at));
		path = path === '' ? name : joinPath(name, path);
	}
	return path;
}

import type { Time } from '../base/inode.ts';
import { joinPath } from '../base/paths.ts';
import { posixErrorOf } from '../base/posix-error.ts';
import { checked, lastErrno, libc } from '../host/libc.ts';
import { AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW } from '../host/open-flags.ts';
import type { HostInode } from '../host/read-inode.ts';
import { MemoryBuilder } from './memory-builder.ts';
import { nameOfRaw, type ScanMemory } from './scan-memory.ts';
import * as record from './scan-record.ts';
import type { UpperCursor } from './upper-cursor.ts';
import { fromUpper, hasMarkedWhiteouts } from './upper-encoding.ts';
import { listRawNames } from './upper-listing.ts';
import { planVisits, type VisitPlan } from './visit-plan.ts';

/** A name that is not as it was remembered. */
export interface Touched {
	/** Number of its record in the new memory. */
	readonly index: number;
	/** Number of the record that the old memory has for the path, or -1. */
	readonly oldIndex: number;
	readonly path: string;
	/** As the layer has it, with what the host knows besides. */
	readonly inode: HostInode;
}

/** A name that was remembered and is no longer there. */
export interface Gone {
	readonly oldIndex: number;
	readonly path: string;
}

export interface Walked {
	readonly memory: ScanMemory;
	/** Each directory before what it holds. */
	readonly touched: Touched[];
	/** Without what they held. */
	readonly gone: Gone[];
}

export interface WalkOptions {
	/** Paths that are passed over with all below them. The same for the life of a memory. */
	readonly unversioned?: (path: string) => boolean;
	/** Files that count as changed whatever their times say: those that a process has mapped and may write. */
	readonly alsoRehash?: ReadonlySet<string>;
	/** Only what these directories hold themselves, and new directories in them wholly; the rest is as remembered. */
	readonly only?: ReadonlySet<string>;
	/** How a name is read that is not as it was remembered; null when it is gone. */
	readonly read: (cursor: UpperCursor, name: string) => HostInode | null;
	/** Names whose ctime is not older than this are read again next time. */
	readonly settledBefore: Time;
}

/** How a directory's names are learnt: read, as remembered, or only to get to what is below it. */
type Manner = 'list' | 'remembered' | 'pass';

/** A directory that is to be visited. */
interface Pending {
	readonly index: number;
	readonly oldIndex: number;
	readonly manner: Manner;
}

/** A directory in which the walk stands. */
interface Frame {
	readonly index: number;
	readonly path: string;
	/** The directories in it that are to be visited. */
	readonly pending: Pending[];
	next: number;
}

const STATX_BASIC_STATS_AND_BTIME = 0xfff;
const ENOENT = 2;

/** Looks at every name of an upper directory, and reads what is not as it was remembered. Throws PosixError. */
export function walkUpper(cursor: UpperCursor, old: ScanMemory | null, options: WalkOptions): Walked {
	return new UpperWalk(cursor, old, options).run();
}

class UpperWalk {
	readonly #cursor: UpperCursor;
	readonly #old: ScanMemory | null;
	readonly #options: WalkOptions;
	readonly #builder: MemoryBuilder;
	readonly #plan: VisitPlan | null;
	/** Records of the old memory that count as changed. */
	readonly #rehash: ReadonlySet<number>;
	readonly #statxOf = libc().statxByAddress;
	readonly #statxBytes = Buffer.alloc(record.STATX_BYTES);
	readonly #statx = new Uint32Array(this.#statxBytes.buffer, this.#statxBytes.byteOffset, record.STATX_BYTES / 4);
	readonly #touched: Touched[] = [];
	readonly #gone: Gone[] = [];
	/** Something vanished on the way, so that the new memory differs from the old even if nothing is touched. */
	#isUnsettled = false;

	constructor(cursor: UpperCursor, old: ScanMemory | null, options: WalkOptions) {
		this.#cursor = cursor;
		this.#old = old;
		this.#options = options;
		this.#builder = new MemoryBuilder(old);
		const rehash = options.alsoRehash ?? new Set();
		this.#rehash = new Set(old === null ? [] : Array.from(rehash, (path) => old.find(path)));
		this.#plan = old === null || options.only === undefined ? null : planVisits(old, options.only, rehash);
	}

	run(): Walked {
		const frames = [this.#readRoot()];
		for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
			const pending = frame.pending[frame.next++];
			if (pending === undefined) {
				frames.pop();
				if (frames.length > 0) this.#cursor.leave();
				continue;
			}
			const name = this.#name(pending.index);
			if (this.#cursor.enter(name)) frames.push(this.#readDirectory(pending, joinPath(frame.path, name)));
			else this.#keepAsRemembered(pending);
		}
		const isSame = this.#touched.length === 0 && this.#gone.length === 0 && !this.#isUnsettled;
		const memory = isSame && this.#old !== null ? this.#old : this.#builder.finish();
		return { memory, touched: this.#touched, gone: this.#gone };
	}

	#readRoot(): Frame {
		const { fd } = this.#cursor;
		const mask = STATX_BASIC_STATS_AND_BTIME;
		checked(libc().statx(fd, '', AT_EMPTY_PATH, mask, this.#statxBytes), 'stat');
		const oldIndex = this.#old === null ? -1 : 0;
		const isSame = this.#compare(0, oldIndex);
		if (!isSame) this.#touch(0, oldIndex, false, '.', '');
		const manner = this.#mannerOf(oldIndex, isSame, () => '');
		return this.#readDirectory({ index: 0, oldIndex, manner: manner ?? 'pass' }, '');
	}

	#readDirectory({ index, oldIndex, manner }: Pending, path: string): Frame {
		const frame: Frame = { index, path, pending: [], next: 0 };
		if (manner === 'list') this.#readListed(frame, oldIndex);
		else this.#readRemembered(frame, oldIndex, manner);
		return frame;
	}

	/** Reads the names and matches them with those remembered, both in the order of their bytes. */
	#readListed(frame: Frame, oldIndex: number): void {
		const { unversioned } = this.#options;
		let names = listRawNames(this.#cursor.fd, frame.path);
		if (unversioned !== undefined) {
			names = names.filter((raw) => !unversioned(joinPath(frame.path, nameOfRaw(raw))));
		}
		let child = this.#builder.addChildren(frame.index, names);
		const old = new RememberedNames(this.#old, oldIndex);
		for (const raw of names) {
			for (; old.raw !== null && old.raw < raw; old.move()) this.#noteGone(frame, old.index, old.raw);
			const isKnown = old.raw === raw;
			if (this.#look(frame, child, isKnown ? old.index : -1)) child++;
			else if (isKnown) this.#noteGone(frame, old.index, raw);
			if (isKnown) old.move();
		}
		for (; old.raw !== null; old.move()) this.#noteGone(frame, old.index, old.raw);
	}

	/** The directory is as it was when its names were read. */
	#readRemembered(frame: Frame, oldIndex: number, manner: 'remembered' | 'pass'): void {
		const old = this.#old as ScanMemory;
		let child = this.#builder.addSameChildren(frame.index, old, oldIndex);
		const [first, end] = record.childRange(old.records, oldIndex);
		for (let oldChild = first; oldChild < end; oldChild++) {
			if (manner === 'pass' && !this.#isPlanned(frame, oldChild)) this.#copySubtree(child++, oldChild);
			else if (this.#look(frame, child, oldChild)) child++;
			else this.#noteGone(frame, oldChild, old.rawName(oldChild));
		}
	}

	/** Looks at one name of the present directory; false when it is gone: then its record is, too. */
	#look(frame: Frame, child: number, oldChild: number): boolean {
		const { fd } = this.#cursor;
		const mask = STATX_BASIC_STATS_AND_BTIME;
		const address = this.#builder.nameAddress(child);
		if (this.#statxOf(fd, address, AT_SYMLINK_NOFOLLOW, mask, this.#statxBytes) < 0) {
			const errno = lastErrno();
			if (errno !== ENOENT) throw posixErrorOf(errno, 'stat', joinPath(frame.path, this.#name(child)));
			return this.#drop(frame, child);
		}
		const isSame = this.#compare(child, oldChild);
		if (!isSame) {
			const name = this.#name(child);
			const isMarked = (this.#flags(frame.index) & record.FLAG_MARKED) !== 0;
			const isThere = this.#touch(child, oldChild, isMarked, name, joinPath(frame.path, name));
			if (!isThere) return this.#drop(frame, child);
		}
		if (record.isDirectoryRecord(this.#builder.records, child * record.RECORD_WORDS)) {
			const manner = this.#mannerOf(oldChild, isSame, () => joinPath(frame.path, this.#name(child)));
			if (manner === null) this.#copySubtree(child, oldChild);
			else frame.pending.push({ index: child, oldIndex: oldChild, manner });
		}
		return true;
	}

	/** Keeps in the record what statx said; whether that is what was remembered. */
	#compare(child: number, oldChild: number): boolean {
		const { records } = this.#builder;
		const at = child * record.RECORD_WORDS;
		record.keepStat(records, at, this.#statx);
		const isWhiteout = record.isWhiteoutStat(this.#statx);
		const isRacy = !isWhiteout && record.changedSince(this.#statx, this.#options.settledBefore);
		const flags = (isWhiteout ? record.FLAG_WHITEOUT : 0) | (isRacy ? record.FLAG_REREAD : 0);
		records[at + record.FLAGS] = flags;
		if (oldChild < 0) return false;
		const old = (this.#old as ScanMemory).records;
		const oldAt = oldChild * record.RECORD_WORDS;
		const oldFlags = old[oldAt + record.FLAGS] as number;
		if (isWhiteout && (oldFlags & record.FLAG_WHITEOUT) !== 0) return true;
		if (this.#rehash.has(oldChild)) records[at + record.FLAGS] = flags | record.FLAG_REREAD;
		else if ((oldFlags & record.FLAG_REREAD) === 0 && record.sameStat(records, at, old, oldAt)) {
			records[at + record.FLAGS] = flags | oldFlags;
			return true;
		}
		return false;
	}

	/** Reads all there is to know of a name that is not as it was; false when it is gone. */
	#touch(index: number, oldIndex: number, isInMarked: boolean, name: string, path: string): boolean {
		const found = this.#options.read(this.#cursor, name);
		if (found === null) return false;
		if (found.kind === 'directory' && hasMarkedWhiteouts(found)) this.#addFlag(index, record.FLAG_MARKED);
		this.#touched.push({ index, oldIndex, path, inode: fromUpper(found, isInMarked) });
		return true;
	}

	/** How a directory is to be visited; null: not at all. */
	#mannerOf(oldIndex: number, isSame: boolean, path: () => string): Manner | null {
		const isKnown = isSame && oldIndex >= 0;
		if (!isKnown) return 'list';
		if (this.#plan === null) return 'remembered';
		const visit = this.#plan.get(path());
		return visit === undefined ? null : visit === 'pass' ? 'pass' : 'remembered';
	}

	#isPlanned(frame: Frame, oldChild: number): boolean {
		const old = this.#old as ScanMemory;
		if (!record.isDirectoryRecord(old.records, oldChild * record.RECORD_WORDS)) return false;
		return this.#plan?.has(joinPath(frame.path, nameOfRaw(old.rawName(oldChild)))) === true;
	}

	/** Takes over what was remembered of a name and of all below it. */
	#copySubtree(index: number, oldIndex: number): void {
		const old = this.#old as ScanMemory;
		const open = [[index, oldIndex] as const];
		for (let next = open.pop(); next !== undefined; next = open.pop()) {
			const [to, from] = next;
			record.copyRecord(this.#builder.records, to, old.records, from);
			const [first, end] = record.childRange(old.records, from);
			if (first === end) continue;
			const newFirst = this.#builder.addSameChildren(to, old, from);
			for (let child = first; child < end; child++) open.push([newFirst + child - first, child]);
		}
	}

	/** A directory that was replaced between its stat and its opening: this scan says nothing of it, the next one will. */
	#keepAsRemembered({ index, oldIndex }: Pending): void {
		if (oldIndex >= 0) this.#copySubtree(index, oldIndex);
		this.#addFlag(index, record.FLAG_REREAD);
		this.#isUnsettled = true;
	}

	#drop(frame: Frame, child: number): false {
		this.#builder.dropChild(frame.index, child);
		this.#addFlag(frame.index, record.FLAG_REREAD);
		this.#isUnsettled = true;
		return false;
	}

	#noteGone(frame: Frame, oldIndex: number, raw: string): void {
		this.#gone.push({ oldIndex, path: joinPath(frame.path, nameOfRaw(raw)) });
	}

	#name(index: number): string {
		return nameOfRaw(this.#builder.rawName(index));
	}

	#flags(index: number): number {
		return this.#builder.records[index * record.RECORD_WORDS + record.FLAGS] as number;
	}

	#addFlag(index: number, flag: number): void {
		this.#builder.records[index * record.RECORD_WORDS + record.FLAGS] = this.#flags(index) | flag;
	}
}

/** The remembered names of one directory, one after another. */
class RememberedNames {
	/** Null after the last. */
	raw: string | null = null;
	index: number;
	readonly #memory: ScanMemory | null;
	readonly #end: number;

	constructor(memory: ScanMemory | null, directory: number) {
		this.#memory = memory;
		[this.index, this.#end] = memory === null || directory < 0 ? [0, 0] : record.childRange(memory.records, directory);
		this.index--;
		this.move();
	}

	move(): void {
		this.index++;
		this.raw = this.index < this.#end && this.#memory !== null ? this.#memory.rawName(this.index) : null;
	}
}

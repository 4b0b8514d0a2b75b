import type { Content } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import type { ApplyRun } from './apply-run.ts';
import { closeFd, linkIn, makeNodeIn, makeSymlinkIn, renameIn } from './entries.ts';
import { contentOfFile, openFileIn } from './host-content.ts';
import { type HostStat, statIn } from './host-stat.ts';
import { InodeHandle } from './inode-handle.ts';
import { checked, libc } from './libc.ts';
import { overwriteFile } from './overwrite-file.ts';
import type { Placement } from './plan-changes.ts';
import { type HostInode, readInodeIn } from './read-inode.ts';
import { setMetadata } from './set-metadata.ts';
import { createNew, writeFile } from './write-file.ts';

/**
 * Puts one inode that is no directory in its place, at all the names that it is to have. It is made anew and complete
 * before it takes its name, so that a reader sees the old or the new one. Where no unlisted name shares it, the inode that is
 * there is kept when only its metadata change, and its file written over when nothing is to be durable and nobody has it open. Throws PosixError.
 */
export function placeInode(run: ApplyRun, names: readonly Placement[]): void {
	const first = names.find((name) => name.change.content !== null) ?? names.find((name) => canKeep(run, name));
	const leader = first ?? (names[0] as Placement);
	if (!keep(run, leader, names) && !overwrite(run, leader, names)) makeAnew(run, leader);
	for (const name of names) if (name !== leader) linkTo(run, leader, name);
}

function canKeep(run: ApplyRun, { parent, name, after, change }: Placement): boolean {
	const current = run.options.fresh === true ? null : readHere(run, parent, name);
	return current !== null && isSameThing(current, after, change.content);
}

/** Whether the inode that is there could be kept, and then it has its new metadata. */
function keep(run: ApplyRun, leader: Placement, names: readonly Placement[]): boolean {
	const { parent, name, after, path, change } = leader;
	if (run.options.fresh === true || (after.kind === 'file' && change.content !== null)) return false;
	const current = readHere(run, parent, name);
	if (current === null || !isSameThing(current, after, change.content)) return false;
	if (isWhiteoutNode(after)) return true;
	if (current.nlink !== countNames(run, current, names)) return false;
	const directory = run.directories.at(parent);
	const handle = InodeHandle.of(directory, name);
	try {
		run.step(leader);
		setMetadata(handle, after, current, path, run.options);
	} finally {
		handle.close();
	}
	if (run.options.durable && after.kind === 'file') syncFile(directory, name, path);
	return true;
}

/** Whether the file that is there could be written over: where nothing is to be durable nobody reads either. */
function overwrite(run: ApplyRun, leader: Placement, names: readonly Placement[]): boolean {
	const { durable, fresh, isOpen } = run.options;
	const { parent, name, after, path, change } = leader;
	if (durable || fresh === true || after.kind !== 'file' || change.content === null) return false;
	const directory = run.directories.at(parent);
	const current = statIn(directory, name);
	if (current?.kind !== 'file' || current.nlink !== countNames(run, current, names)) return false;
	if (isOpen?.(current)) return false;
	run.step(leader);
	overwriteFile({ directory, name, content: change.content, after, path }, run.options);
	return true;
}

function makeAnew(run: ApplyRun, placement: Placement): void {
	const { parent, name, after, path } = placement;
	const directory = run.directories.at(parent);
	const atFirst = run.options.fresh === true ? name : run.temporary;
	run.step(placement);
	if (after.kind === 'file') {
		const content = placement.change.content ?? contentHere(directory, name, path);
		const inherited = () => run.inherited(parent, directory, atFirst);
		writeFile({ directory, name: atFirst, content, after, inherited, path }, run.options);
	} else {
		createNew(atFirst, () => makeSpecial(directory, atFirst, after), directory);
		if (!isWhiteoutNode(after)) describe(run, placement, directory, atFirst);
	}
	takePlace(run, placement, directory);
}

/** Gives a further name to the leader's inode. */
function linkTo(run: ApplyRun, leader: Placement, placement: Placement): void {
	const from = run.directories.at(leader.parent);
	const directory = run.directories.at(placement.parent);
	const [original, current] = [statIn(from, leader.name), statIn(directory, placement.name)];
	// Renaming one name of an inode over another of the same inode does nothing (rename(2)).
	if (original !== null && current?.ino === original.ino && current.dev === original.dev) return;
	const atFirst = run.options.fresh === true ? placement.name : run.temporary;
	run.step(placement);
	createNew(atFirst, () => linkIn(from, leader.name, directory, atFirst), directory);
	takePlace(run, placement, directory);
}

function takePlace(run: ApplyRun, placement: Placement, directory: number): void {
	if (run.options.fresh === true) return;
	run.step(placement);
	renameIn(directory, run.temporary, directory, placement.name);
}

function makeSpecial(directory: number, name: string, after: Inode): void {
	if (after.kind === 'symlink') {
		if (after.target === null) throw new Error(`symlink ${name} has no target`);
		makeSymlinkIn(directory, name, after.target);
	} else if (after.kind !== 'whiteout') {
		makeNodeIn(directory, name, after.kind, isWhiteoutNode(after) ? 0 : 0o600, after.rdev);
	}
}

function describe(run: ApplyRun, { parent, after, path }: Placement, directory: number, name: string): void {
	const handle = InodeHandle.of(directory, name);
	try {
		setMetadata(handle, after, run.inherited(parent, directory, name), path, run.options);
	} finally {
		handle.close();
	}
}

function readHere(run: ApplyRun, parent: string, name: string): HostInode | null {
	return readInodeIn(run.directories.at(parent), name, true);
}

/** Whether nothing but metadata tells them apart; of a file, when its bytes are to stay. */
function isSameThing(current: Inode, after: Inode, content: Content | null): boolean {
	if (current.kind !== after.kind) return false;
	if (after.kind === 'file') return content === null;
	return current.target === after.target && current.rdev === after.rdev;
}

/** A char node 0:0, overlayfs' mark of a deleted name: nobody asks for its metadata, and the kernel links them freely. */
function isWhiteoutNode(inode: Inode): boolean {
	return inode.kind === 'char' && inode.rdev === 0;
}

/** How many of the names lead to this inode. */
function countNames(run: ApplyRun, inode: HostStat, names: readonly Placement[]): number {
	if (inode.nlink === 1) return 1;
	return names.filter(({ parent, name }) => {
		const stat = statIn(run.directories.at(parent), name);
		return stat?.ino === inode.ino && stat.dev === inode.dev;
	}).length;
}

/** The bytes of the file that is there, for a new inode that is to have them too. */
function contentHere(directory: number, name: string, path: string): Content {
	const stat = statIn(directory, name);
	if (stat?.kind !== 'file') throw new Error(`the change of ${path} brings no content, and no file is there`);
	return contentOfFile(stat.size, path, () => openFileIn(directory, name, true));
}

function syncFile(directory: number, name: string, path: string): void {
	const { fd } = openFileIn(directory, name, true);
	try {
		checked(libc().fsync(fd), 'fsync', path);
	} finally {
		closeFd(fd);
	}
}

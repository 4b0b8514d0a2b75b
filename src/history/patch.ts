/**
 * A diff as the unified patch that `git apply` takes. Git knows files with and without the executable bit and symlinks;
 * everything else (directories, special files, other mode bits, owners, what lies in .git) has no form in a patch and is
 * told to the caller instead.
 */
import { createHash } from 'node:crypto';
import { encodeName } from '../base/bytes.ts';
import type { Inode } from '../base/inode.ts';
import { Refusal } from '../base/refusal.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { readContent } from '../vfs/read-content.ts';
import type { DiffEntry } from './diff.ts';
import { gitBinaryBody } from './git-binary.ts';
import { isPatchablePath, quoteGitPath } from './git-path.ts';
import { hunksText } from './hunks.ts';
import { splitLines } from './line-diff.ts';

/** Bytes beyond which a file is not compared by line but given whole, as a binary one is. */
export const TEXT_BYTES = 8 * 1024 * 1024;
/** Bytes beyond which a file cannot be put into a patch. */
const PATCH_FILE_BYTES = 1024 ** 3;

/** Told about a difference, or a part of one, that a patch cannot say. */
export type Unpatchable = (entry: DiffEntry, why: string) => void;

/**
 * The patch from one view to the other, piece by piece, for the entries that diffViews found between them.
 * Throws Refusal `failed` for a file of more than a GiB, PosixError when a file cannot be read.
 */
export function* writePatch(
	entries: readonly DiffEntry[],
	from: MergedView,
	to: MergedView,
	unpatchable: Unpatchable = () => {},
): Generator<Buffer, undefined> {
	for (const entry of entries) {
		const { path, fromPath = path } = entry;
		if (!isPatchablePath(path) || !isPatchablePath(fromPath)) {
			unpatchable(entry, 'git takes no patch to what is in .git');
			continue;
		}
		const before = sideOf(from, fromPath);
		const after = sideOf(to, path);
		if (before === null && after === null) unpatchable(entry, `git keeps no ${entry.kind}`);
		else if (before !== null && after !== null && isLink(before) !== isLink(after)) {
			yield* filePatch(path, path, before, null);
			yield* filePatch(path, path, null, after);
		} else yield* filePatch(fromPath, path, before, after);
		if (entry.change === 'mode' && before?.gitMode === after?.gitMode) {
			unpatchable(entry, 'git keeps only the executable bit');
		}
	}
}

/** What git would keep of a path. */
interface Side {
	/** `100644`, `100755` or `120000`. */
	readonly gitMode: string;
	readonly data: Buffer;
}

function isLink({ gitMode }: Side): boolean {
	return gitMode === '120000';
}

function sideOf(view: MergedView, path: string): Side | null {
	const inode: Inode | null = view.stat(path);
	if (inode?.kind === 'symlink') return { gitMode: '120000', data: encodeName(inode.target ?? '') };
	if (inode?.kind !== 'file') return null;
	if (inode.size > PATCH_FILE_BYTES) {
		throw new Refusal('failed', 'patch-too-large', `${path} has ${inode.size} bytes: too many for a patch`, {
			hint: 'leave it out by naming the paths that you want',
		});
	}
	return { gitMode: (inode.mode & 0o100) === 0 ? '100644' : '100755', data: readContent(view.content(path)) };
}

function* filePatch(
	oldPath: string,
	newPath: string,
	before: Side | null,
	after: Side | null,
): Generator<Buffer, undefined> {
	const bodyNeeded = before === null || after === null || !before.data.equals(after.data);
	if (!bodyNeeded && oldPath === newPath && before.gitMode === after.gitMode) return;
	const lines = [`diff --git ${quoteGitPath(`a/${oldPath}`)} ${quoteGitPath(`b/${newPath}`)}`];
	if (before === null) lines.push(`new file mode ${after?.gitMode}`);
	else if (after === null) lines.push(`deleted file mode ${before.gitMode}`);
	else if (before.gitMode !== after.gitMode) lines.push(`old mode ${before.gitMode}`, `new mode ${after.gitMode}`);
	if (oldPath !== newPath) {
		lines.push(`similarity index ${bodyNeeded ? 50 : 100}%`);
		lines.push(`rename from ${quoteGitPath(oldPath)}`, `rename to ${quoteGitPath(newPath)}`);
	}
	if (bodyNeeded) {
		const mode = before !== null && before.gitMode === after?.gitMode ? ` ${before.gitMode}` : '';
		lines.push(`index ${objectName(before)}..${objectName(after)}${mode}`);
	}
	yield Buffer.from(`${lines.join('\n')}\n`, 'latin1');
	if (bodyNeeded) yield* body(oldPath, newPath, before, after);
}

function* body(
	oldPath: string,
	newPath: string,
	before: Side | null,
	after: Side | null,
): Generator<Buffer, undefined> {
	const oldData = before?.data ?? Buffer.alloc(0);
	const newData = after?.data ?? Buffer.alloc(0);
	if (!isText(oldData) || !isText(newData)) {
		yield gitBinaryBody(oldData, newData);
		return;
	}
	const hunks = hunksText(splitLines(oldData.toString('latin1')), splitLines(newData.toString('latin1')));
	if (hunks === '') return;
	const oldName = before === null ? '/dev/null' : headerPath(`a/${oldPath}`);
	const newName = after === null ? '/dev/null' : headerPath(`b/${newPath}`);
	yield Buffer.from(`--- ${oldName}\n+++ ${newName}\n${hunks}`, 'latin1');
}

/** Whether a file is compared by line: no NUL in it, and not too large. */
export function isText(data: Buffer): boolean {
	return data.length <= TEXT_BYTES && !data.includes(0);
}

/** A name with a blank is ended by a tab, so that nothing after it could be taken for a part of it. */
function headerPath(path: string): string {
	const quoted = quoteGitPath(path);
	return quoted === path && path.includes(' ') ? `${path}\t` : quoted;
}

/** The blob's name in a repository that uses SHA-1; zeros for what is not there. */
function objectName(side: Side | null): string {
	if (side === null) return '0'.repeat(40);
	return createHash('sha1').update(`blob ${side.data.length}\0`).update(side.data).digest('hex');
}

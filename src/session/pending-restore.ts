import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { errorCode } from '../base/posix-error.ts';
import { replaceFile } from '../host/replace-file.ts';
import type { Store } from '../store/store.ts';
import type { LayerPlace } from './layer-place.ts';
import { type RestoreRows, writeRestore } from './restore-rows.ts';
import { writeTruth } from './truth.ts';

/**
 * While a restore is written into a layer that is in use, a file beside the layer says what it is to become. It is a file so
 * that it can be taken away when no disk has room for a commit: from then on what the layer holds counts.
 */
export class PendingRestore implements Disposable {
	readonly #path: string;

	private constructor(path: string) {
		this.#path = path;
	}

	/** Before anything is written into the layer. Throws PosixError. */
	static begin(layer: LayerPlace, rows: RestoreRows): PendingRestore {
		const path = markPath(layer);
		const { target, roots, paths, trail } = rows;
		replaceFile(path, JSON.stringify({ target, roots: roots.map(({ ino }) => ino), paths, trail }));
		return new PendingRestore(path);
	}

	/** The layer counts again; to be called before anything inside goes on. */
	[Symbol.dispose](): void {
		rmSync(fsPath(this.#path), { force: true });
	}
}

/**
 * Brings a restore to its end that was killed while it wrote into the layer: in the store, which is the truth then, so that
 * the layer is made anew. What was there before is in a snapshot already. False when there was none.
 */
export function completePendingRestore(layer: LayerPlace, store: Store): boolean {
	const mark = readMark(layer);
	if (mark === null) return false;
	store.write(() => {
		writeRestore(store, { ...mark, roots: store.tree.roots().filter(({ ino }) => mark.roots.includes(ino)) });
		writeTruth(store.config, { side: 'store' });
	});
	store.durable();
	return true;
}

interface Mark extends Omit<RestoreRows, 'roots'> {
	readonly roots: readonly number[];
}

function readMark(layer: LayerPlace): Mark | null {
	try {
		return JSON.parse(readFileSync(fsPath(markPath(layer)), 'utf8')) as Mark;
	} catch (error) {
		if (errorCode(error) === 'ENOENT') return null;
		throw error;
	}
}

function markPath(layer: LayerPlace): string {
	return join(layer.path, 'restoring');
}

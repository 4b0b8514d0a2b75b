import { randomFillSync } from 'node:crypto';
import { statSync } from 'node:fs';
import { Store } from '../src/store/store.ts';
import { CHUNK_BYTES } from '../src/store/tree-write.ts';
import { fileChange } from '../test/support/file-content.ts';
import type { BenchOptions, Figure } from './harness/benchmark.ts';
import { benchPlace } from './harness/place.ts';

const SNAPSHOTS = 200;
const EDIT_BYTES = 1_000_000;
const FILE_BYTES = 10_000_000;

/** How large a session file gets by many snapshots of small edits in a layer of large files that cannot be compressed. */
export function historySize({ full }: BenchOptions): Figure[] {
	using place = benchPlace();
	const path = place.join('session.db');
	const store = Store.create(path);
	const { ino } = store.write(() => store.tree.addRoot('project', null));
	const files = Array.from({ length: full ? 50 : 10 }, () => randomFillSync(Buffer.alloc(FILE_BYTES)));
	let expectedBytes = 0;
	const take = (chosen: readonly number[]) => {
		const changes = chosen.map((index) => fileChange(`f${index}`, files[index] as Buffer));
		const staged = store.tree.stage(changes);
		store.write(() => {
			store.tree.apply(ino, changes, staged);
			store.tree.snapshot({ trigger: 'quiet', created: { sec: 0, nsec: 0 } });
		});
		store.durable();
	};
	take([...files.keys()]);
	expectedBytes += files.length * FILE_BYTES;
	for (let snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
		const index = (snapshot * 7) % files.length;
		// odd offsets: an edit begins and ends within a chunk
		const offset = (snapshot * 1_234_567) % (FILE_BYTES - EDIT_BYTES);
		randomFillSync(files[index] as Buffer, offset, EDIT_BYTES);
		expectedBytes += bytesOfChunks(offset, offset + EDIT_BYTES);
		take([index]);
	}
	store.close();
	return [
		{
			name: 'history-size/200 edits',
			what: `the session file after ${SNAPSHOTS} snapshots of 1 MB edits over a layer of ${(files.length * FILE_BYTES) / 1e6} MB`,
			unit: 'MiB',
			ours: [statSync(path).size / 2 ** 20],
			theirs: [expectedBytes / 2 ** 20],
			against: 'the bytes of the layer and of the changed chunks',
			goal: { kind: 'ratio', value: 1.05 },
		},
	];
}

function bytesOfChunks(from: number, to: number): number {
	const first = Math.floor(from / CHUNK_BYTES) * CHUNK_BYTES;
	return Math.min(Math.ceil(to / CHUNK_BYTES) * CHUNK_BYTES, FILE_BYTES) - first;
}

import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fileChange } from '../../test/support/file-content.ts';
import { dumpStore } from '../../test/support/store-work.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { dumpView } from '../../test/support/tree-model.ts';
import { Refusal } from '../base/refusal.ts';
import { collectGarbage } from './gc.ts';
import { checkIntegrity } from './integrity.ts';
import { Store } from './store.ts';

/** Writes files until the store is full; gives the refusal and the state that was committed last. */
function fill(store: Store): { refusal: Refusal; before: string; committed: number } {
	const root = store.write(() => store.tree.addRoot('project', null).ino);
	let before = dumpStore(store);
	for (let committed = 0; ; committed++) {
		try {
			store.write(() => {
				store.tree.apply(root, [fileChange(`f${committed}`, randomBytes(300_000))]);
				store.tree.snapshot({ trigger: 'manual', created: { sec: committed, nsec: 0 } });
			});
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			return { refusal: error, before, committed };
		}
		before = dumpStore(store);
	}
}

test('a store that reached its greatest size refuses as full, names the file, and loses nothing', () => {
	using place = temporaryDirectory();
	const store = Store.create(place.join('s.db'));
	store.db.exec('pragma max_page_count=300');
	const { refusal, before, committed } = fill(store);
	expect(refusal).toMatchObject({ kind: 'full', code: 'store-full' });
	expect(refusal.message).toContain(store.path);
	expect(committed).toBeGreaterThan(2);
	expect(dumpStore(store)).toBe(before);
	store.db.exec('pragma max_page_count=100000');
	store.write(() => store.tree.apply(1, [fileChange('after', 'room again')]));
	expect(checkIntegrity(store).checks.filter(({ found, harmless }) => found > 0 && harmless !== true)).toEqual([]);
	store.close();
});

const mountable = canMount();
const unless = mountable ? '' : ' (skipped: mounting a tmpfs needs root)';

test.skipIf(!mountable)(`a full disk is refused as such, and what was committed is there afterwards${unless}`, () => {
	using place = temporaryDirectory();
	const disk = place.join('disk');
	mkdirSync(disk);
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
	try {
		const store = Store.create(`${disk}/s.db`);
		const { refusal, before, committed } = fill(store);
		expect(refusal).toMatchObject({ kind: 'full' });
		expect(committed).toBeGreaterThan(2);
		expect(dumpStore(store)).toBe(before);
		const { bavail, bsize } = statfsSync(disk);
		writeFileSync(`${disk}/rest`, Buffer.alloc(Number(bavail) * Number(bsize)));
		expect(() => store.write(() => store.config.set('pin', 'x'.repeat(100_000)))).toThrow('no space left');
		store.close();
		execFileSync('mount', ['-o', 'remount,size=64m', disk]);
		const opened = Store.open(`${disk}/s.db`, 'tree');
		expect(dumpStore(opened)).toBe(before);
		expect(opened.db.pragma('integrity_check')).toBe('ok');
		opened.close();
	} finally {
		execFileSync('umount', [disk]);
	}
});

test.skipIf(!mountable)(`a session is not created on a full disk, and leaves nothing behind${unless}`, () => {
	using place = temporaryDirectory();
	const disk = place.join('disk');
	mkdirSync(disk);
	execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
	try {
		expect(() => Store.create(`${disk}/s.db`)).toThrow('no space left');
		expect(execFileSync('ls', ['-A', disk], { encoding: 'utf8' })).toBe('');
	} finally {
		execFileSync('umount', [disk]);
	}
});

test.skipIf(!mountable).each([
	['large files', 1, 1_500_000, 20],
	['small files', 500, 3000, 20],
] as const)(
	`gc of %s works on a disk that is nearly full, and needs no second copy${unless}`,
	(_, files, bytes, count) => {
		using place = temporaryDirectory();
		const disk = place.join('disk');
		mkdirSync(disk);
		execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', disk]);
		try {
			const path = `${disk}/s.db`;
			const store = Store.create(path);
			const root = store.write(() => store.tree.addRoot('project', null).ino);
			for (let sec = 0; sec < count; sec++) {
				const changes = Array.from({ length: files }, (_, index) => fileChange(`f${index}`, randomBytes(bytes)));
				const staged = store.tree.stage(changes);
				store.write(() => {
					store.tree.apply(root, changes, staged);
					store.tree.snapshot({ trigger: 'quiet', created: { sec, nsec: 0 } });
				});
			}
			store.close();
			const before = statSync(path).size;
			expect(before).toBeGreaterThan(files * bytes * count);
			leaveFree(disk, GC_ROOM_BYTES);
			const opened = Store.open(path, 'tree');
			const shown = [...dumpView(opened.tree.at(count), root)];
			collectGarbage(opened, { drop: opened.snapshots.list().map(({ id }) => id) });
			expect([...dumpView(opened.tree.at(count), root)]).toEqual(shown);
			opened.close();
			expect(statSync(path).size).toBeLessThan(2 * files * bytes);
		} finally {
			execFileSync('umount', [disk]);
		}
	},
);

/** What gc says in its help to need. */
const GC_ROOM_BYTES = 4 * 1024 * 1024;

function leaveFree(disk: string, bytes: number): void {
	const { bavail, bsize } = statfsSync(disk);
	writeFileSync(`${disk}/rest`, Buffer.alloc(Number(bavail) * Number(bsize) - bytes));
}

/** Whether this process may mount. */
function canMount(): boolean {
	using place = temporaryDirectory();
	const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place.path]).status === 0;
	if (mounted) execFileSync('umount', [place.path]);
	return mounted;
}

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fileChange } from '../../test/support/file-content.ts';
import { PROJECT } from '../../test/support/source-files.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { watchedDriver } from '../../test/support/watched-driver.ts';
import { Store } from './store.ts';

test('a large file takes no more memory than its batch and the cache of SQLite', () => {
	using place = temporaryDirectory();
	const program = ['tools/run-ts.mjs', 'test/support/ingest-memory.ts', place.join('s.db'), '4096'];
	const { stdout, stderr } = spawnSync(process.execPath, program, { cwd: PROJECT, encoding: 'utf8' });
	expect(stderr).toBe('');
	expect(Number(stdout)).toBeLessThan(150);
}, 120_000);

test('many small files are staged in several transactions, and equal content is stored once', () => {
	using place = temporaryDirectory();
	let commits = 0;
	const driver = watchedDriver((sql) => {
		if (sql === 'commit') commits += 1;
	});
	const store = Store.create(place.join('s.db'), {}, { driver });
	commits = 0;
	const changes = Array.from({ length: 3000 }, (_, at) => fileChange(`f${at}`, `content ${at % 2000}`));
	const staged = store.tree.stage(changes);
	expect(commits).toBe(Math.ceil(3000 / 512));
	const blobs = new Set(changes.map(({ content }) => content && staged.of(content)?.chunks[0]?.[1]));
	expect(blobs.size).toBe(2000);
	expect(store.db.prepare<number>('select count(*) from blob', 'value').get()).toBe(2000);
	store.close();
});

test('content of one maker is read once, however many paths name it', () => {
	using place = temporaryDirectory();
	const store = Store.create(place.join('s.db'));
	let reads = 0;
	const content = {
		size: 1,
		pieces() {
			reads += 1;
			return [{ offset: 0, data: Buffer.from('x') }];
		},
	};
	store.tree.stage(['a', 'b'].map((path) => fileChange(path, 'x', { content })));
	expect(reads).toBe(1);
	store.close();
});

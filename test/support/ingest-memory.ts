/** Stages a file of N windows that never repeat, made as they are asked for; says by how many MiB the process grew. */
import { createHash } from 'node:crypto';
import { Store } from '../../src/store/store.ts';
import { inode } from './file-content.ts';

const [path, windows] = process.argv.slice(2) as [string, string];
const store = Store.create(path);
const root = store.write(() => store.tree.addRoot('project', null).ino);
const window = Buffer.alloc(65_536);
const size = Number(windows) * window.length;
const content = {
	size,
	*pieces() {
		for (let offset = 0; offset < size; offset += window.length) {
			window.fill(createHash('sha256').update(String(offset)).digest());
			yield { offset, data: window };
		}
	},
};
const changes = [{ path: 'big', before: null, after: inode('file', { size }), content, link: null, from: null }];
const before = process.memoryUsage().rss;
const staged = store.tree.stage(changes);
store.write(() => store.tree.apply(root, changes, staged));
const grownKiB = process.resourceUsage().maxRSS - before / 1024;
process.stdout.write(`${Math.round(grownKiB / 1024)}\n`);
store.close();

// Clones a repository and works on it in phases: node git-phases.mjs MIRROR. Works in ./work, which it leaves.
// Prints JSON: `ms` by phase, and `seen`, what two runs on the same repository must agree on.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';

const READ_FILES = 64;
const READ_BYTES = 4096;
const EDIT_FILES = 8;
const EDIT_PLACES = ['src/', 'tests/', 'docs/', ''];
const TOKEN = 'DROPCLOTH_TOKEN';

const [, , mirror] = process.argv;
const ms = {};
const seen = {};

const git = (...args) => execFileSync('git', args, { cwd: 'work', encoding: 'utf8', maxBuffer: 2 ** 28 });

/** Runs a phase; what it gives must be the same everywhere. */
function phase(name, run) {
	const began = performance.now();
	const found = run();
	ms[name] = performance.now() - began;
	seen[name] = createHash('sha256').update(JSON.stringify(found)).digest('hex');
}

let files = [];

phase('clone', () => {
	execFileSync('git', ['clone', '-q', '--local', '--no-hardlinks', mirror, 'work']);
	return null;
});
phase('checkout', () => {
	git('checkout', '-q', '-B', 'benchmark');
	return git('rev-parse', 'HEAD');
});
phase('status', () => [git('status', '--short'), git('status', '--short', '--branch')]);
phase('read_search', () => {
	files = git('ls-files', '-z')
		.split('\0')
		.filter((name) => name !== '' && lstatSync(`work/${name}`).isFile());
	const hash = createHash('sha256');
	let matches = 0;
	for (const name of files.slice(0, READ_FILES)) {
		const text = readFileSync(`work/${name}`);
		const head = text.subarray(0, READ_BYTES);
		hash.update(`${name}\0${statSync(`work/${name}`).size}\0`).update(head);
		matches += head.toString('latin1').split(TOKEN).length - 1;
	}
	return [hash.digest('hex'), matches];
});
phase('edit', () => {
	const chosen = new Set(
		EDIT_PLACES.flatMap((place) => files.filter((name) => name.startsWith(place))).slice(0, EDIT_FILES),
	);
	return [...chosen].map((name) => {
		const before = statSync(`work/${name}`).size;
		const fd = openSync(`work/${name}`, 'a');
		writeSync(fd, `${TOKEN} a line that was added by the benchmark\n`);
		fsyncSync(fd);
		closeSync(fd);
		return [name, statSync(`work/${name}`).size - before];
	});
});
phase('diff', () => [git('diff', '--name-only', '--'), git('diff', '--stat', '--'), git('diff', '--', '.')]);
phase('fsck', () => {
	git('fsck', '--strict', '--no-progress');
	return null;
});
console.log(JSON.stringify({ ms, seen }));

import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Account, accounts } from '../../test/support/accounts.ts';
import { asAccount } from '../../test/support/as-account.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { treeLines } from '../../test/support/tree-hash.ts';
import type { Change } from '../base/change.ts';
import { joinPath } from '../base/paths.ts';
import { HostTree } from '../host/host-tree.ts';
import { Store } from '../store/store.ts';
import { MergedView } from '../vfs/merged-view.ts';
import { scanUpper } from './scan.ts';
import type { ScanMemory } from './scan-memory.ts';

const LOWER = `
	mkdir -p dir/sub kept/deep gone moved
	for file in dir/a dir/sub/b kept/c kept/deep/d gone/e gone/f moved/g top1 top2 top3 locked; do echo "lower $file" >"$file"; done
	ln top1 kept/linked
	ln -s top1 symlink
	setfattr -n user.k -v lower top2
	chmod 750 kept; chmod 640 kept/c
	find . -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +`;

const FIRST = `
	rm top1
	rm -r gone; mkdir gone; echo new >gone/new
	rm -r dir
	mv moved elsewhere
	echo more >>top2
	chmod 600 kept/c
	chmod 000 locked
	echo x >'odd "name" \\, :'; mkfifo fifo; ln -s nowhere dangling
	mkdir -p fresh/a/b; echo 1 >fresh/a/b/1; echo 2 >fresh/2; ln fresh/2 fresh/a/link
	truncate -s 1M fresh/sparse; printf tail >>fresh/sparse
	setfattr -n user.k -v upper fresh/2
	setfattr -n user.overlay.opaque -v y fresh 2>/dev/null || true
	touch -d '2021-02-03 04:05:06.789012345' fresh/2 kept`;

const SECOND = `
	mv fresh renamed
	rm gone/new; echo again >gone/e
	mkdir dir; echo a2 >dir/a
	echo back >top1
	rm -r elsewhere
	rm symlink; mkdir symlink
	rm kept/deep/d
	echo 3 >renamed/a/b/1; chmod 700 locked; rm renamed/a/link`;

const THIRD = `
	find . -mindepth 1 -delete
	echo only >only`;

describe.each(accounts())('over a real overlay, as $name', (account) => {
	let world: OverlayWorld;
	beforeEach(() => {
		world = new OverlayWorld(account);
	});
	afterEach(() => world[Symbol.dispose]());

	it('what is taken in, over the lower directory, is what a process inside sees', () => {
		for (const script of [FIRST, SECOND, THIRD]) {
			world.inside(script);
			world.takeIn();
			expect(world.taken()).toEqual(world.seen());
		}
	});

	it('finds nothing after a run that changed nothing', () => {
		world.inside(FIRST);
		world.takeIn();
		world.inside('cat top2 kept/c fresh/2 >/dev/null; ls -lR >/dev/null');
		expect(world.takeIn()).toEqual({ entries: 0, inodes: 0 });
	});

	it('sees a renamed directory as renamed, and hard links as one inode', () => {
		// what was written within the clock's last tick would be read again
		world.inside(`${FIRST}\nsleep 0.02`);
		world.takeIn();
		world.inside('mv fresh renamed');
		const changes = world.scan();
		const renamed = changes.find(({ path }) => path === 'renamed');
		expect(renamed?.from).toBe('fresh');
		expect(changes.some(({ path, after }) => path === 'fresh' && after === null)).toBe(true);
		expect(changes.some(({ path }) => path.startsWith('renamed/'))).toBe(false);
	});
});

/** A lower and an upper directory that a script works on through an overlay mount, and a store that takes the upper in. */
class OverlayWorld implements Disposable {
	readonly #account: Account;
	readonly #place: TemporaryDirectory = temporaryDirectory();
	readonly #store = Store.create(this.#place.join('session.db'));
	readonly #root: number;
	readonly #upper = this.#place.join('upper');
	#memory: ScanMemory | null = null;
	#copies = 0;

	constructor(account: Account) {
		this.#account = account;
		account.own(this.#place.path);
		asAccount(account, () => {
			for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(this.#place.join(name));
		});
		this.#run(['sh', '-ec', `cd lower\n${LOWER}`]);
		this.#root = this.#store.write(() => this.#store.tree.addRoot('project', this.#place.join('lower')).ino);
	}

	/** Runs a script in the merged directory, and copies what it leaves to be seen there. */
	inside(script: string): void {
		const copy = `seen-${++this.#copies}`;
		const options = 'lowerdir=lower,upperdir=upper,workdir=work,userxattr';
		const mounted = `mount -t overlay overlay -o ${options} merged\ncd merged\n${script}\ncp -a . ../${copy}`;
		const namespaces = this.#account.uid === 0 ? '-m' : '-Urm';
		this.#run(['unshare', namespaces, 'sh', '-c', `set -e\n${mounted}`]);
	}

	scan(): readonly Change[] {
		const scan = scanUpper(this.#upper, this.#memory);
		this.#memory = scan.memory;
		scan.close();
		return scan.changes;
	}

	takeIn() {
		return asAccount(this.#account, () => {
			const scan = scanUpper(this.#upper, this.#memory);
			const staged = this.#store.tree.stage(scan.changes);
			const count = this.#store.write(() => this.#store.tree.apply(this.#root, scan.changes, staged));
			this.#memory = scan.memory;
			return count;
		});
	}

	/** What the store has, read over the lower directory. */
	taken(): string[] {
		const lower = HostTree.open(this.#place.join('lower'), 'ro');
		const path = this.#place.join(`taken-${this.#copies}`);
		mkdirSync(path);
		const copy = HostTree.open(path, 'rw');
		try {
			const view = new MergedView(this.#store.tree.at('now'), this.#root, lower);
			copy.apply([...wholeTree(view)], { durable: false, fresh: true, owner: 'exact' });
		} finally {
			lower.close();
			copy.close();
		}
		return linesWithoutLinks(path);
	}

	/** What the last script saw in the end. */
	seen(): string[] {
		return linesWithoutLinks(this.#place.join(`seen-${this.#copies}`));
	}

	[Symbol.dispose](): void {
		this.#store.close();
		// The work directory has a directory of mode 000 in it.
		this.#run(['chmod', '-R', 'u+rwx', 'work']);
		this.#place[Symbol.dispose]();
	}

	#run(command: string[]): void {
		const { code, stderr } = this.#account.run(command, { cwd: this.#place.path });
		if (code !== 0) throw new Error(`${command.join(' ')}: exit ${code}: ${stderr}`);
	}
}

function* wholeTree(view: MergedView, path = ''): Generator<Change> {
	const after = view.stat(path);
	if (after === null) throw new Error(`${path} is listed but not there`);
	const content = after.kind === 'file' ? view.content(path) : null;
	yield { path, before: null, after, content, link: null, from: null };
	if (after.kind === 'directory') for (const name of view.list(path)) yield* wholeTree(view, joinPath(path, name));
}

function linesWithoutLinks(root: string): string[] {
	return treeLines(root).map((line) => line.replace(/ "[^"]*"$/, ''));
}

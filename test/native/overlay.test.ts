import { lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fsPath } from '../../src/base/bytes.ts';
import { accounts } from '../support/accounts.ts';
import { LaunchRig, type Operation } from '../support/launch-rig.ts';

/** Each form in which layers can be named; the kernel here takes all of them. */
const FORMS = ['fd', 'str', 'legacy'] as const;

/** Names that an option string, a mount table or a shell would spoil. */
const ODD_NAMES = [
	'with space',
	'a:b',
	'a\\:b',
	'a,b',
	'a\\,b=c',
	'back\\slash',
	'trailing\\',
	'"double"',
	"'single'",
	'new\nline',
	'tab\t',
	'#hash',
	'$HOME',
	'`id`',
	'-dash',
	'upperdir=x',
	'ünï',
	'\udc80\udcff\udcfe',
	'x'.repeat(200),
];

describe.each(accounts())('overlays, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	/** A plan without any cover, in which a command works on one overlay that the test describes itself. */
	function over(overlay: Operation, at: string, script: string, outside: Operation[] = []): Operation[] {
		return [
			...rig.enter(),
			...outside,
			overlay,
			['setattr', '/', 'ro', 'rec'],
			['fs', 1, 'proc', '', 'nosuid,nodev,noexec'],
			['attach', 1, '/proc'],
			['attach', 0, at],
			...rig.identity(),
			['confine', 'seccomp,landlock'],
			['chdir', at],
			['exec', 3, 'sh', '-c', script],
		];
	}

	describe.each(FORMS)('layers by %s', (form) => {
		const flags = form === 'fd' ? 'userxattr' : `userxattr,${form}`;

		test.each(ODD_NAMES)('three layers, upper and work named %j', async (name) => {
			const lowers = ['top', 'middle', 'bottom'].map((layer) => {
				rig.file(`${layer}/${name}/${layer}`, layer);
				rig.file(`${layer}/${name}/shared`, layer);
				return rig.path(`${layer}/${name}`);
			});
			const upper = rig.directory(`upper/${name}`);
			const work = rig.directory(`work/${name}`);
			const overlay = ['overlay', 0, flags, upper, work, 'nosuid,nodev', 3, ...lowers];
			const script = 'cat top middle bottom shared; echo new >made; rm middle; echo more >>bottom';
			const ended = await rig.start(over(overlay, lowers[2] as string, script)).ended;
			expect(ended).toMatchObject({ code: 0, failure: '', stdout: 'topmiddlebottomtop' });
			expect(ended.report).toContain(`layers ${form}`);
			expect(readFileSync(fsPath(`${upper}/made`), 'utf8')).toBe('new\n');
			expect(readFileSync(fsPath(`${upper}/bottom`), 'utf8')).toBe('bottommore\n');
			expect(lstatSync(fsPath(`${upper}/middle`))).toMatchObject({ rdev: 0, mode: 0o020000 });
			expect(readFileSync(fsPath(`${lowers[1]}/middle`), 'utf8')).toBe('middle');
			expect(readFileSync(fsPath(`${lowers[2]}/bottom`), 'utf8')).toBe('bottom');
		});

		test('a neighbour whose name is the unescaped form is left alone', async () => {
			rig.directory('layers/a:b');
			const upper = rig.directory('layers/a\\:b');
			const overlay = ['overlay', 0, flags, upper, rig.work, '', 1, rig.project];
			expect((await rig.start(over(overlay, rig.project, 'echo >made')).ended).code).toBe(0);
			expect(lstatSync(`${upper}/made`).isFile()).toBe(true);
			expect(() => lstatSync(rig.path('layers/a:b/made'))).toThrow('ENOENT');
		});

		test('paths longer than an option value can be', async () => {
			const long = Array.from({ length: 3 }, (_, i) => String(i).repeat(200)).join('/');
			rig.file(`lower/${long}/file`, 'deep');
			const [lower, upper, work] = [
				rig.path(`lower/${long}`),
				rig.directory(`up/${long}`),
				rig.directory(`wk/${long}`),
			];
			const overlay = ['overlay', 0, flags, upper, work, '', 1, lower];
			expect((await rig.start(over(overlay, lower, 'cat file')).ended).stdout).toBe('deep');
		});

		test('without an upper layer it can only be read', async () => {
			rig.file('project/file', 'one');
			const second = rig.directory('second');
			const overlay = ['overlay', 0, flags, '', '', '', 2, rig.project, second];
			const ended = await rig.start(over(overlay, rig.project, 'cat file; echo >made')).ended;
			expect(ended.stdout).toBe('one');
			expect(ended.code).not.toBe(0);
		});
	});

	test('fifty layers by list, and a clear failure when one option cannot name them', async () => {
		const layers = Array.from({ length: 120 }, (_, i) => rig.directory(`layer-${i}`));
		const overlay = (count: number): Operation[] =>
			over(
				['overlay', 0, 'userxattr,legacy', rig.upper, rig.work, '', count, ...layers.slice(0, count)],
				rig.project,
				':',
			);
		expect((await rig.start(overlay(50)).ended).code).toBe(0);
		const ended = await rig.start(overlay(120)).ended;
		expect(ended.failure).toMatch(/^fail \d+ 7 overlay too many layers for this kernel$/);
	});

	test('three hundred layers by descriptor', async () => {
		const layers = Array.from({ length: 300 }, (_, i) => rig.directory(`layer-${i}`));
		rig.file('layer-299/file', 'last');
		const overlay = ['overlay', 0, 'userxattr', rig.upper, rig.work, '', 300, ...layers];
		expect((await rig.start(over(overlay, rig.project, 'cat file')).ended).stdout).toBe('last');
	});

	test('a layer reached through a symbolic link is refused', async () => {
		symlinkSync(rig.project, rig.path('link'));
		const overlay = ['overlay', 0, 'userxattr', rig.upper, rig.work, '', 1, rig.path('link')];
		const ended = await rig.start(over(overlay, rig.project, ':')).ended;
		expect(ended.code).toBe(125);
		expect(ended.failure).toMatch(/^fail \d+ 40 overlay .*\/link$/);
	});

	test('a missing layer, and one that is a file, fail by name', async () => {
		rig.file('file', '');
		const of = (path: string) => over(['overlay', 0, 'userxattr', rig.upper, rig.work, '', 1, path], rig.project, ':');
		expect((await rig.start(of('/no/such')).ended).failure).toMatch(/^fail \d+ 2 overlay \/no\/such$/);
		expect((await rig.start(of(rig.path('file'))).ended).failure).toMatch(/^fail \d+ 20 overlay .*\/file$/);
	});

	test('made after everything is read-only it fails with the words of the kernel', async () => {
		const ended = await rig.start([
			...rig.enter(),
			['setattr', '/', 'ro', 'rec'],
			['overlay', 0, 'userxattr', rig.upper, rig.work, '', 1, rig.project],
			['exec', 1, 'true'],
		]).ended;
		expect(ended.failure).toMatch(/^fail \d+ 22 overlay .* \| .*read-only/);
	});

	test('upper and work as one directory with the lower layer is ELOOP', async () => {
		const overlay = ['overlay', 0, 'userxattr', rig.project, rig.work, '', 1, rig.project];
		expect((await rig.start(over(overlay, rig.project, ':')).ended).failure).toMatch(/^fail \d+ 40 overlay /);
	});

	test('volatile is passed on', async () => {
		const overlay = ['overlay', 0, 'userxattr,volatile', rig.upper, rig.work, '', 1, rig.project];
		const ended = await rig.start(over(overlay, rig.project, 'grep -c " overlay .*volatile" /proc/self/mountinfo'))
			.ended;
		expect(ended.stdout).toBe('1\n');
	});

	test('forged overlay attributes stay inside the view', async () => {
		rig.file('project/dir/file', 'lower');
		const set = 'setfattr -n user.overlay.opaque -v y dir && cat dir/file';
		const ended = await rig.start(rig.plan(['sh', '-c', set])).ended;
		if (ended.stderr.includes('setfattr')) console.log(`no setfattr here: ${ended.stderr.trim()}`);
		else expect(ended.stdout).toBe('lower');
	});
});

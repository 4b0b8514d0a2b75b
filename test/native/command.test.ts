import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accounts } from '../support/accounts.ts';
import { LaunchRig } from '../support/launch-rig.ts';

describe.each(accounts())('the command, as $name', (account) => {
	let rig: LaunchRig;
	beforeEach(() => {
		rig = new LaunchRig(account);
	});
	afterEach(() => rig[Symbol.dispose]());

	const run = (...command: string[]) => rig.start(rig.plan(command), { input: '' }).ended;
	const shell = (script: string) => run('sh', '-c', script);

	test.each([0, 1, 7, 125, 255])('exit code %i passes through and is reported', async (code) => {
		const ended = await shell(`exit ${code}`);
		expect(ended).toMatchObject({ code, failure: '' });
		expect(ended.report).toContain(`exit ${code}`);
	});

	test.each([
		['TERM', 15],
		['SEGV', 11],
		['KILL', 9],
		['HUP', 1],
		['INT', 2],
		['PIPE', 13],
		['USR1', 10],
	])('a death by SIG%s is code 128 + %i and is reported as a signal', async (name, number) => {
		const ended = await shell(`kill -${name} $$`);
		expect(ended.code).toBe(128 + number);
		expect(ended.report).toContain(`signal ${number}`);
	});

	test('everything of a good run is reported, each line whole', async () => {
		const { report } = await run('true');
		expect([...report].sort()).toEqual([
			expect.stringMatching(/^exit 0$/),
			expect.stringMatching(/^init \d+$/),
			'layers fd',
			'started',
		]);
	});

	test('a name that no directory of PATH holds is 127', async () => {
		const ended = await run('no-such-command');
		expect(ended.code).toBe(127);
		expect(ended.report).toContain('exec-failed 2');
	});

	test('an empty name is 127', async () => {
		expect((await run('')).code).toBe(127);
	});

	test('a path that does not exist is 127', async () => {
		expect((await run('/no/such/command')).code).toBe(127);
	});

	test('a file that may not be executed is 126, by path and along PATH', async () => {
		rig.file('project/bin/tool', 'text', 0o644);
		const byPath = await run('./bin/tool');
		expect(byPath).toMatchObject({ code: 126 });
		expect(byPath.report).toContain('exec-failed 13');
		const env = { PATH: `${rig.project}/bin:/usr/bin` };
		expect((await rig.start(rig.plan(['tool']), { env }).ended).code).toBe(126);
	});

	test('a directory is 126', async () => {
		expect((await run('/usr')).code).toBe(126);
	});

	test('a directory of PATH that cannot be searched does not make a missing command one that cannot run', async () => {
		rig.directory('project/closed', account.uid === 0 ? 0o755 : 0o000);
		const env = { PATH: `${rig.project}/closed:${rig.project}/file:/usr/bin` };
		rig.file('project/file', '');
		const ended = await rig.start(rig.plan(['no-such-command']), { env }).ended;
		expect(ended.code).toBe(127);
		expect(ended.report).toContain('exec-failed 2');
	});

	test('PATH is searched in order, an empty entry is the current directory', async () => {
		rig.file('project/tool', '#!/bin/sh\necho here', 0o755);
		rig.file('project/other/tool', '#!/bin/sh\necho other', 0o755);
		const withPath = async (PATH: string) => (await rig.start(rig.plan(['tool']), { env: { PATH } }).ended).stdout;
		expect(await withPath(':other')).toBe('here\n');
		expect(await withPath('other:')).toBe('other\n');
		expect(await withPath('/nowhere:')).toBe('here\n');
	});

	test('a script without an interpreter line runs in the shell, with its arguments', async () => {
		rig.file('project/script', 'echo "$0 $# $2"', 0o755);
		expect((await run('./script', 'a', 'b c')).stdout).toBe('./script 2 b c\n');
	});

	test('a binary that is not for this machine is 126, not a script', async () => {
		rig.file('project/binary', Buffer.from('7f454c46020100ff00', 'hex'), 0o755);
		const ended = await run('./binary');
		expect(ended.code).toBe(126);
		expect(ended.report).toContain('exec-failed 8');
	});

	test('a script whose interpreter is missing is 126: the file is there', async () => {
		rig.file('project/script', '#!/no/interpreter\n', 0o755);
		expect((await run('./script')).code).toBe(126);
	});

	test('arguments and environment arrive byte for byte', async () => {
		const odd = 'a "b" \\c\n\t$d \udc80\udcff é';
		const env = { ODD: 'v"\\\n=' };
		const ended = await rig.start(rig.plan(['sh', '-c', 'printf "%s|%s" "$1" "$ODD" >got', 'sh', odd]), { env }).ended;
		expect(ended.code).toBe(0);
		const expected = Buffer.from('a "b" \\c\n\t$d \u0000\u0001 é|v"\\\n=', 'utf8');
		expected[expected.indexOf(0)] = 0x80;
		expected[expected.indexOf(1)] = 0xff;
		expect(readFileSync(`${rig.upper}/got`)).toEqual(expected);
	});

	test('a thousand arguments of a hundred bytes arrive', async () => {
		const many = Array.from({ length: 1000 }, (_, i) => String(i).padStart(100, '.'));
		expect((await run('sh', '-c', 'echo $#', 'sh', ...many)).stdout).toBe('1000\n');
	});

	test("the umask is the caller's, though modes of the plan are exact", async () => {
		const before = process.umask(0o027);
		try {
			const inside = [
				['fs', 2, 'tmpfs', 'mode=0755,size=64k', ''],
				['attach', 2, '/var/tmp'],
				['mkdir', '/var/tmp/d', 0o777],
				['file', '/var/tmp/f', 0o666],
			];
			const launch = rig.start(rig.plan(['sh', '-c', 'umask; stat -c %a /var/tmp/d /var/tmp/f'], { inside }));
			expect((await launch.ended).stdout).toBe('0027\n777\n666\n');
		} finally {
			process.umask(before);
		}
	});

	test('it starts in the directory of the plan; a missing one is a failure of that operation', async () => {
		rig.directory('project/sub');
		const directory = `${rig.project}/sub`;
		expect((await rig.start(rig.plan(['pwd'], { directory })).ended).stdout).toBe(`${directory}\n`);
		const missing = await rig.start(rig.plan(['pwd'], { directory: '/no/such' })).ended;
		expect(missing.failure).toMatch(/^fail \d+ 2 chdir \/no\/such$/);
		expect(missing.code).toBe(125);
	});

	test('inherited descriptors are closed, its own 3 to 6 too', async () => {
		const extra = openSync('/etc/passwd', 'r');
		try {
			const launch = rig.start(rig.plan(['sh', '-c', 'ls /proc/$$/fd']), { more: [extra, extra, extra] });
			expect((await launch.ended).stdout).toBe('0\n1\n2\n');
		} finally {
			closeSync(extra);
		}
	});

	test('closed standard descriptors become /dev/null, and nothing of the launcher takes their place', async () => {
		const plan = rig.planFile(rig.plan(['sh', '-c', 'readlink /proc/self/fd/0 /proc/self/fd/2; ls /proc/$$/fd']));
		const { builtLauncher } = await import('../support/native-programs.ts');
		const script = `"$0" $$ <&- 2>&- 3<"$1" 4>/dev/null 5>&- 6>&-; exit $?`;
		const ran = account.run(['sh', '-c', script, builtLauncher(), plan], { cwd: '/' });
		expect(ran.stdout).toBe('/dev/null\n/dev/null\n0\n1\n2\n');
	});

	test.each([0, 1, 2])('a directory as descriptor %i is refused', async (at) => {
		const directory = openSync('/', constants.O_RDONLY | constants.O_DIRECTORY);
		try {
			const stdio: ('pipe' | number)[] = ['pipe', 'pipe', 'pipe'];
			stdio[at] = directory;
			const ended = await rig.start(rig.plan(['true']), { stdio }).ended;
			expect(ended.code).toBe(125);
			expect(ended.failure).toBe('fail 0 21 start a standard descriptor is a directory');
		} finally {
			closeSync(directory);
		}
	});

	test('a launcher whose caller is another process than it was told ends without a word', async () => {
		const plan = rig.planFile(rig.plan(['true']));
		const { builtLauncher } = await import('../support/native-programs.ts');
		const ran = account.run(['sh', '-c', '"$0" 1 3<"$1" 4>&1; echo $?', builtLauncher(), plan], { cwd: '/' });
		expect(ran.stdout).toBe('125\n');
	});
});

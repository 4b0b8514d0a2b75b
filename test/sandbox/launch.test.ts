import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
	existsSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	realpathSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ERRNO } from '../../src/base/errno.ts';
import { LockFile } from '../../src/host/lock-file.ts';
import { isRunning, processStart } from '../../src/host/process.ts';
import { explainFailure } from '../../src/sandbox/explain.ts';
import { gatherSpec } from '../../src/sandbox/gather-spec.ts';
import { buildJoinPlan } from '../../src/sandbox/join-plan.ts';
import { type Launched, type LaunchOptions, launch } from '../../src/sandbox/launch.ts';
import { makeLayerDirectories } from '../../src/sandbox/layer-directories.ts';
import { NO_LIMITS } from '../../src/sandbox/limits.ts';
import { buildPlan } from '../../src/sandbox/plan.ts';
import type { SandboxRequest } from '../../src/sandbox/sandbox-request.ts';
import { sandboxUser } from '../../src/sandbox/user-facts.ts';
import { accounts, presentAccount } from '../support/accounts.ts';
import { builtLauncher } from '../support/native-programs.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

let rig: SandboxRig;
beforeEach(async () => {
	rig = await SandboxRig.make(presentAccount());
});
afterEach(() => rig[Symbol.dispose]());

const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin' };

function start(
	command: string[],
	change: Partial<SandboxRequest> = {},
	options: Partial<LaunchOptions> = {},
): Launched {
	const spec = gatherSpec(rig.request(command, change));
	makeLayerDirectories(spec);
	return launch({
		launcher: builtLauncher(),
		plan: buildPlan(spec),
		environment: ENVIRONMENT,
		scratch: rig.store,
		streams: ['ignore', 'ignore', 'ignore'],
		control: spec.control,
		...options,
	});
}

const shell = (script: string) => ['/bin/sh', '-c', script];
const piped = { streams: ['pipe', 'pipe', 'pipe'] } as const;

async function text(stream: AsyncIterable<Buffer> | null): Promise<string> {
	const parts: Buffer[] = [];
	for await (const part of stream ?? []) parts.push(part);
	return Buffer.concat(parts).toString();
}

/** The first line that the command prints. */
async function firstLine(launched: Launched): Promise<string> {
	const [data] = (await once(launched.stdout ?? process, 'data')) as [Buffer];
	return data.toString();
}

describe('how it ended', () => {
	test('with a code of its own', async () => {
		expect(await start(['true']).ended).toEqual({ kind: 'exited', code: 0 });
		expect(await start(shell('exit 125')).ended).toEqual({ kind: 'exited', code: 125 });
	});

	test('by a signal', async () => {
		for (const [name, number] of [
			['TERM', 15],
			['SEGV', 11],
			['KILL', 9],
		] as const) {
			expect(await start(shell(`kill -${name} $$`)).ended).toEqual({ kind: 'killed', signal: number });
		}
	});

	test('never begun: no such command, or none that can be executed', async () => {
		const path = rig.write('home/project/not-executable', '');
		expect(await start(['no-such-command']).ended).toEqual({ kind: 'not-executed', code: 127, errno: ERRNO.ENOENT[0] });
		expect(await start([path]).ended).toEqual({ kind: 'not-executed', code: 126, errno: ERRNO.EACCES[0] });
	});

	test('not set up: the step, and the sentence for it', async () => {
		const spec = gatherSpec(rig.request(['true']));
		const plan = buildPlan(spec);
		const options = { launcher: builtLauncher(), plan, environment: {}, scratch: rig.store };
		const launched = launch(options);
		const outcome = await launched.ended;
		if (outcome.kind !== 'failed') throw new Error(`ended as ${outcome.kind}`);
		expect(plan.operations[outcome.failure.index]?.[0]).toBe('overlay');
		expect(explainFailure(outcome.failure, plan)).toMatchObject({
			kind: 'sandbox',
			code: 'place-changed',
			message: `${rig.store}/layer/home/upper is not there any more`,
		});
		expect([await launched.init, await launched.ready]).toEqual([expect.any(Number), false]);
	});

	test('not started: there is no launcher', async () => {
		const launched = start(['true'], {}, { launcher: '/nope/launch' });
		expect(await launched.ended).toMatchObject({
			kind: 'failed',
			failure: { operation: 'spawn', errno: ERRNO.ENOENT[0] },
		});
		expect([await launched.init, await launched.ready]).toEqual([null, false]);
	});
});

test('a word with a NUL in it never gets to the launcher', () => {
	expect(() => start(['true', 'a\0b'])).toThrow('holds a NUL');
});

test('arguments, streams and environment are the command’s own', async () => {
	const launched = start(
		shell('cat; printf "%s|" "$@"; echo err >&2; env | wc -l').concat('sh', '', 'a b', '"\n', '-x'),
		{},
		piped,
	);
	launched.stdin?.end('in\n');
	const [out, err] = await Promise.all([text(launched.stdout), text(launched.stderr)]);
	expect([out, err]).toEqual(['in\n|a b|"\n|-x|2\n', 'err\n']);
	expect(await launched.ended).toEqual({ kind: 'exited', code: 0 });
});

test('PID 1 is told before the command ends, and nothing of it is left after', async () => {
	const launched = start(shell('sleep 300 & setsid sleep 300 & echo up; cat'), {}, piped);
	const [init, ready] = await Promise.all([launched.init, launched.ready]);
	expect(ready).toBe(true);
	expect(readFileSync(`/proc/${init}/status`, 'utf8')).toMatch(/^NSpid:\s+\d+\s+1$/m);
	await firstLine(launched);
	expect(existsSync(`/proc/${init}/root${rig.project}`)).toBe(true);
	launched.stdin?.end();
	await launched.ended;
	expect(launched.hasEnded).toBe(true);
	expect(existsSync(`/proc/${init}`)).toBe(false);
});

test('signals reach the command, SIGKILL ends all of it', async () => {
	const trapping = start(shell('trap "exit 42" TERM; echo up; while :; do sleep 0.01; done'), {}, piped);
	await firstLine(trapping);
	trapping.kill('SIGTERM');
	expect(await trapping.ended).toEqual({ kind: 'exited', code: 42 });
	const killed = start(shell('setsid sleep 300 & echo up; sleep 300'), {}, piped);
	const init = await killed.init;
	const started = processStart(init ?? 0);
	await firstLine(killed);
	killed.kill('SIGKILL');
	expect(await killed.ended).toEqual({ kind: 'killed', signal: 9 });
	await gone(init ?? 0, started ?? '');
});

/** The kernel ends the sandbox a moment after its launcher. */
async function gone(pid: number, started: string): Promise<void> {
	while (isRunning(pid, started)) await new Promise((resolve) => setImmediate(resolve));
}

test('a tree can be frozen and thawed', async () => {
	const script = 'for i in 1 2 3; do (while :; do echo $i >> grown; done) & done; echo up; cat';
	const launched = start(shell(script), { control: true }, piped);
	await firstLine(launched);
	const frozen = await launched.freeze();
	expect(frozen.processes).toBeGreaterThanOrEqual(4);
	const grown = join(rig.store, 'layer/project/upper/grown');
	const size = statSync(grown).size;
	for (let look = 0; look < 100; look++) expect(statSync(grown).size).toBe(size);
	await launched.thaw();
	while (statSync(grown).size === size) await new Promise((resolve) => setImmediate(resolve));
	launched.kill('SIGKILL');
	await launched.ended;
	await expect(launched.freeze()).rejects.toThrow('has ended');
});

test('another command joins it, and goes on when the first has ended, which is told at once', async () => {
	const first = start(shell('echo ready; read line; exit 3'), { control: true }, piped);
	await firstLine(first);
	const init = (await first.init) ?? 0;
	const spec = { init, initStart: processStart(init) ?? '', user: sandboxUser(), cwd: rig.project };
	const alongside = (command: string[]) =>
		launch({
			launcher: builtLauncher(),
			plan: buildJoinPlan({ limits: NO_LIMITS, ...spec, command }),
			environment: ENVIRONMENT,
			scratch: rig.store,
			streams: ['pipe', 'pipe', 'pipe'],
		});
	const second = alongside(shell('echo from the second >told; echo ready; read line; exit 4'));
	expect(await second.ready).toBe(true);
	expect(await second.init).toBe(init);
	await firstLine(second);
	first.stdin?.end('\n');
	expect(await first.commandEnded).toEqual({ kind: 'exited', code: 3 });
	expect([first.hasEnded, first.report().waiting]).toEqual([false, 1]);
	await first.freeze();
	expect(await first.thaw()).toEqual({ undisturbed: true });
	second.stdin?.end('\n');
	expect(await second.ended).toEqual({ kind: 'exited', code: 4 });
	expect(await first.ended).toEqual({ kind: 'exited', code: 3 });
	const [project] = rig.request([]).roots;
	expect(readFileSync(join(project?.upper ?? '', 'told'), 'utf8')).toBe('from the second\n');

	const late = await alongside(['true']).ended;
	if (late.kind !== 'failed') throw new Error('joined what has ended');
	expect(explainFailure(late.failure, buildJoinPlan({ limits: NO_LIMITS, ...spec, command: ['true'] }))).toMatchObject({
		code: 'sandbox-ended',
	});
});

test('a freeze without control is a mistake of the caller', async () => {
	const launched = start(['true']);
	await expect(launched.freeze()).rejects.toThrow('without control');
	await launched.ended;
});

test('the owner’s lock is shared with the launcher until the tree is gone, and denied to a second one', async () => {
	const path = join(rig.store, 'lock');
	writeFileSync(path, '');
	const lock = LockFile.open(path);
	const launched = start(shell('echo up; cat'), { lock: { start: 0, length: 1 } }, { ...piped, lockFd: lock.fd });
	await firstLine(launched);
	lock.close();
	const other = LockFile.open(path);
	expect(other.tryLock(0, 1, 'exclusive')).toBe(false);
	const second = start(['true'], { lock: { start: 0, length: 1 } }, { lockFd: other.fd });
	const outcome = await second.ended;
	expect(outcome).toMatchObject({ kind: 'failed', failure: { index: 0, errno: ERRNO.EAGAIN[0], operation: 'lock' } });
	launched.stdin?.end();
	await launched.ended;
	expect(other.tryLock(0, 1, 'exclusive')).toBe(true);
	other.close();
});

test('a directory as standard input is refused in words', async () => {
	const spec = gatherSpec(rig.request(['true']));
	const plan = buildPlan(spec);
	const streams = [openSync('/', 'r'), 'ignore', 'ignore'] as const;
	const outcome = await launch({ launcher: builtLauncher(), plan, environment: {}, scratch: rig.store, streams }).ended;
	if (outcome.kind !== 'failed') throw new Error(`ended as ${outcome.kind}`);
	expect(explainFailure(outcome.failure, plan).code).toBe('directory-as-stream');
});

test('plan and report leave no file behind', async () => {
	await start(['true']).ended;
	expect(readdirSync(rig.store)).toEqual(['layer']);
});

describe.each(accounts())('the program of $name', (account) => {
	test('passes on what is sent to it, and takes everything with it when it is killed', async () => {
		using own = await SandboxRig.make(account);
		const script = 'trap "echo got; exit 9" INT TERM; echo up; while :; do sleep 0.01; done';
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			const task = { run: own.request(shell(script)), launcher: builtLauncher(), scratch: own.store };
			const { command, resultFile } = own.commandLine(task);
			const [program = '', ...args] = command;
			const child = spawn(program, args, { cwd: '/', env: account.environment(), uid: account.uid, gid: account.gid });
			await once(child.stdout, 'data');
			child.kill(signal);
			const [code] = await once(child, 'close');
			expect([signal, code]).toEqual([signal, 9]);
			expect(JSON.parse(readFileSync(resultFile, 'utf8')).outcome).toEqual({ kind: 'exited', code: 9 });
		}
	});

	test('a sandbox in a sandbox writes into the inner one only', async () => {
		using own = await SandboxRig.make(account);
		own.write('home/project/file', 'base\n');
		own.settle();
		const inner = '/tmp/inner';
		const task = {
			run: {
				...own.request(shell('cat file; echo inner > file; cat file; id -u')),
				roots: [
					{ role: 'project', path: own.project, lowers: [own.project], upper: `${inner}/upper`, work: `${inner}/work` },
				],
				storePath: inner,
			},
			launcher: '/tmp/tools/launch',
			scratch: inner,
		};
		own.write('home/project/task', JSON.stringify(task));
		own.settle();
		const { command } = own.commandLine(task as never);
		const tools = join(own.path, 'tools');
		mkdirSync(tools);
		const [, program = ''] = command;
		for (const [name, source] of [
			['launch', builtLauncher()],
			['program.mjs', program],
		] as const) {
			writeFileSync(join(tools, name), readFileSync(realpathSync(source)), { mode: 0o755 });
		}
		own.settle();
		const script = `mkdir ${inner} && ${process.execPath} /tmp/tools/program.mjs task /tmp/result || cat /tmp/result; cat file`;
		const ran = own.run(shell(script), { roBind: [`${tools}:/tmp/tools`, process.execPath] });
		expect([ran.stdout, ran.stderr]).toEqual([`base\ninner\n${account.uid}\nbase\n`, '']);
	});
});

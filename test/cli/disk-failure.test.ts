import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BundledProgram, bundledProgram } from '../support/bundled-program.ts';
import { compileDiskFault } from '../support/disk-fault.ts';
import type { FaultReport } from '../support/fault-cases.ts';

const { EIO, ENOSPC } = constants.errno;
/** Not /tmp, which a sandbox hides. */
const PLACES = '/var/lib/dropcloth-test';

let program: BundledProgram;
let place: string;
let library: string;

beforeAll(async () => {
	program = await bundledProgram('test/support/fail-each-write.ts');
	mkdirSync(PLACES, { recursive: true });
	place = mkdtempSync(join(PLACES, 'fault-'));
	library = compileDiskFault(place);
});
afterAll(async () => {
	await program[Symbol.asyncDispose]();
	execFileSync('chmod', ['-R', 'u+rwX', place]);
	rmSync(place, { recursive: true, force: true });
});

/** Fewer of a full disk: it fails in the same places, and from then on in all. */
const FULL_DISK_STEPS = 3;

/** Fails every `step`-th of a command line's writes, syncs, cuts and renames: once with EIO; with ENOSPC from then on. */
function failEach(name: string, errno: number, step: number): { before: FaultReport; failures: FaultReport[] } {
	const work = join(place, `${name}-${errno}`);
	mkdirSync(join(work, 'work'), { recursive: true });
	const stays = errno === ENOSPC ? '1' : '0';
	const args = [
		program.path,
		work,
		library,
		name,
		String(errno),
		stays,
		'1',
		String(errno === ENOSPC ? step * FULL_DISK_STEPS : step),
	];
	const { status, stdout, stderr } = spawnSync(process.execPath, args, {
		env: { PATH: process.env['PATH'], LD_PRELOAD: library },
		encoding: 'utf8',
		maxBuffer: 2 ** 28,
	});
	if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
	const [before, ...failures] = stdout
		.split('\n')
		.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as FaultReport]));
	if (before === undefined) throw new Error(`${name} said nothing: ${stderr}`);
	return { before, failures };
}

/** What is told is one clear line with the code of the table, and the session is sound. */
function expectTold({ told, damage, at }: FaultReport, errno: number): void {
	expect(damage, `failure ${at}`).toEqual([]);
	if (told?.code === 0) return;
	expect(told, `failure ${at}`).toMatchObject({ code: errno === ENOSPC ? 8 : 1, stdout: '' });
	expect(told?.stderr.trimEnd().split('\n').at(-1), `failure ${at}`).toMatch(/^dropcloth: [^\n]*(\/|: )/);
}

const stateOf = ({ session, host }: FaultReport) => JSON.stringify({ session, host });

describe.each([
	['EIO', EIO],
	['ENOSPC', ENOSPC],
])('with %s', (_, errno) => {
	test.each([
		['create', 7],
		['snap', 1],
		['restore', 2],
		['undo', 3],
		['gc', 3],
	])(
		'whichever write of %s fails, the session is as before or as after',
		(name, step) => {
			const { before, failures } = failEach(name, errno, step);
			const after = failures.at(-1) as FaultReport;
			expect(after.told).toMatchObject({ code: 0 });
			for (const failure of failures) {
				expectTold(failure, errno);
				expect([stateOf(before), stateOf(after)], `failure ${failure.at}`).toContain(stateOf(failure));
			}
			expect(failures.some((failure) => failure.told?.code !== 0)).toBe(true);
		},
		600_000,
	);

	test('whichever write of a run fails, what its command wrote until it was ended is there', () => {
		const { before, failures } = failEach('run', errno, 2);
		const { snapshots: old = [] } = before.session ?? {};
		for (const failure of failures) {
			expectTold(failure, errno);
			const { snapshots = [], now } = failure.session ?? {};
			expect(snapshots.slice(0, old.length)).toEqual(old);
			expect(snapshots.length - old.length).toBeLessThanOrEqual(1);
			if (snapshots.length > old.length) expect(now).toEqual(snapshots.at(-1));
			expect(failure.host).toEqual(before.host);
		}
		const after = failures.at(-1) as FaultReport;
		const taken = failures.filter((failure) => stateOf(failure) === stateOf(after));
		// most failures come when the command is done: the next command takes in what it left
		expect(taken.length).toBeGreaterThan(failures.length / 2);
	}, 600_000);

	test.each(['apply-store', 'apply-host'])(
		'whichever write of %s fails, it is done or can be taken back',
		(name) => {
			const { before, failures } = failEach(name, errno, 3);
			const after = failures.at(-1) as FaultReport;
			for (const failure of failures) {
				expectTold(failure, errno);
				const isDone = stateOf(failure) === stateOf(after);
				expect([stateOf(before), stateOf(after)], `failure ${failure.at}`).toContain(stateOf(failure));
				if (failure.told?.code !== 0 && failure.next?.code !== 0) {
					expect(failure.next?.stderr, `failure ${failure.at}`).toMatch(/no apply was cut short/);
				}
				if (failure.next?.code === 0) expect(isDone).toBe(false);
			}
		},
		600_000,
	);
});

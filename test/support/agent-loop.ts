import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { placeInStore } from '../../src/session/session-place.ts';
import { checkIntegrity } from '../../src/store/integrity.ts';
import { Store } from '../../src/store/store.ts';
import type { Account } from './accounts.ts';
import { type SessionRig, sessionRig } from './session-rig.ts';
import { PROJECT } from './source-files.ts';
import { Tmux, type TmuxWindow } from './tmux.ts';
import { treeLines } from './tree-hash.ts';
import { until } from './until.ts';

/** How long the agent works, and what is done to it meanwhile. */
export interface AgentDay {
	/** One after the other. */
	readonly phases: readonly AgentPhase[];
	/** Steps between two checkpoints that the agent asks for. */
	readonly every: number;
	/** For the choice of what happens when. */
	readonly seed: number;
	/** Told what is done. */
	readonly log: (text: string) => void;
}

/** A part of it. */
export interface AgentPhase {
	readonly seconds: number;
	/** Seconds in which the agent thinks between two steps; 0 is full speed. */
	readonly think: number;
	/** Seconds between two things that are done from outside: at least, and at most. */
	readonly calm: readonly [number, number];
}

/** What was done. */
export interface AgentDeeds {
	readonly kills: number;
	readonly restores: number;
	readonly snapshots: number;
}

interface Row {
	readonly id: number;
	readonly trigger: string;
	readonly note: string | null;
}

const NAME = 'project';
/** A restore takes some 300 ms, most of which the start of the command. */
const MIDDLE_OF_RESTORE_MS = 500;

/**
 * Lets an agent without a model work on a clone of this repository, under tmux, with a second shell beside it, while its owner
 * is killed and its session restored from outside. Afterwards every snapshot must be a sound repository, the store sound, and
 * the real directory as it was.
 */
export async function agentDay(account: Account, day: AgentDay): Promise<AgentDeeds> {
	using rig = sessionRig(account, NAME);
	cloneInto(rig);
	const host = treeLines(rig.project);
	const env = { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath, PS1: '\\n$ ' };
	using tmux = new Tmux(account, rig.place, rig.project, env);
	const loop = new AgentLoop(rig, tmux, day);
	for (const phase of day.phases) await loop.work(phase);
	await loop.end();
	const snapshots = verifySnapshots(rig, day.log);
	expect(treeLines(rig.project)).toEqual(host);
	return { ...loop.deeds, snapshots };
}

/** The repository with its history, and what its build needs beside it. */
function cloneInto(rig: SessionRig): void {
	execFileSync('git', ['clone', '-q', '--no-hardlinks', '-c', 'gc.auto=0', PROJECT, rig.project]);
	symlinkSync(join(PROJECT, 'node_modules'), join(rig.project, 'node_modules'));
	appendFileSync(join(rig.project, '.git/info/exclude'), 'node_modules\n');
	const agent = join(rig.place, 'agent.sh');
	copyFileSync(join(PROJECT, 'test/support/agent.sh'), agent);
	chmodSync(agent, 0o755);
	rig.account.own(rig.place);
}

class AgentLoop {
	readonly #rig: SessionRig;
	readonly #day: AgentDay;
	readonly #agent: TmuxWindow;
	readonly #beside: TmuxWindow;
	readonly #random: () => number;
	#kills = 0;
	#restores = 0;

	constructor(rig: SessionRig, tmux: Tmux, day: AgentDay) {
		this.#rig = rig;
		this.#day = day;
		this.#agent = tmux.open('agent', rig.project);
		this.#beside = tmux.open('beside', rig.project);
		this.#random = randomFrom(day.seed);
	}

	get deeds(): { kills: number; restores: number } {
		return { kills: this.#kills, restores: this.#restores };
	}

	/** Starts the agent, and does to it what a person and bad luck do. */
	async work({ seconds, think, calm }: AgentPhase): Promise<void> {
		await this.#start(think);
		const deeds = [
			() => this.#kill(think),
			() => this.#restore(),
			() => this.#look(),
			() => this.#killInRestore(think),
			() => this.#restore(),
			() => this.#look(),
		];
		const first = Math.floor(this.#random() * deeds.length);
		const deadline = performance.now() + seconds * 1000;
		for (let deed = first; performance.now() < deadline; deed++) {
			await wait((calm[0] + this.#random() * (calm[1] - calm[0])) * 1000);
			await (deeds[deed % deeds.length] as () => Promise<void>)();
			this.#expectNoFault();
		}
		this.#day.log(`a phase ends; snapshots so far: ${this.#rows().length}`);
		await this.#stop();
	}

	async end(): Promise<void> {
		this.#agent.type('exit');
		this.#beside.type('exit');
		await until('the end of the session', () => this.#status().state === 'stopped');
	}

	async #start(think: number): Promise<void> {
		const { rig, program } = { rig: this.#rig, program: `'${process.execPath}' '${this.#rig.cli.program}'` };
		this.#agent.forget();
		this.#agent.type(
			`${program} quick . -- '${rig.place}/agent.sh' ${think} ${this.#day.every} ${program}; echo "ended with $?"`,
		);
		await this.#agent.shown(/^step \d+$/m);
		await this.#join(program);
	}

	/** A second shell in the same sandbox, which looks around and writes a file of its own all the while. */
	async #join(program: string): Promise<void> {
		this.#beside.forget();
		const looking =
			'export GIT_OPTIONAL_LOCKS=0 GIT_PAGER=cat; echo joined; while :; do git status -s >/dev/null; git log -1 --format=%h; date > beside; sleep 6; done';
		this.#beside.type(`${program} run ${NAME} -- bash -c '${looking}' 2>&1; echo "left with $?"`);
		await this.#beside.shown(/^joined$/m);
	}

	/** The owner dies without a word; what it ran dies with it, and the next run goes on with all that was there. */
	async #kill(think: number): Promise<void> {
		this.#killOwner(this.#owner());
		await this.#startAgain(think);
	}

	#owner(): number {
		const { pid, state } = this.#status();
		if (state !== 'live' || pid === null) throw new Error(`to be killed, and ${state}`);
		return pid;
	}

	#killOwner(pid: number): void {
		this.#day.log(`kill -9 ${pid}`);
		process.kill(pid, 'SIGKILL');
		this.#kills++;
	}

	/** The same in the middle of a restore, which then has happened or has not. */
	async #killInRestore(think: number): Promise<void> {
		const owner = this.#owner();
		const { id } = await this.#holdAndChoose();
		const restore = this.#rig.cli.start(['restore', NAME, String(id), '--yes']);
		await wait(this.#random() * MIDDLE_OF_RESTORE_MS);
		this.#killOwner(owner);
		const ran = await restore.ended;
		this.#day.log(`the restore ended with ${ran.code}: ${ran.stderr.trim()}`);
		expect([0, 1, 3], ran.stderr).toContain(ran.code);
		await this.#startAgain(think);
	}

	async #startAgain(think: number): Promise<void> {
		await this.#agent.shown(/^ended with 137$/m);
		await this.#beside.shown(/^left with \d+$/m);
		await this.#start(think);
	}

	/** The agent stands still between two steps, as for a person who looks at what it did; then it goes on from there. */
	async #restore(): Promise<void> {
		const target = await this.#holdAndChoose();
		const ran = this.#rig.cli.run(['restore', NAME, String(target.id), '--yes']);
		expect(ran, ran.stderr).toMatchObject({ code: 0 });
		this.#restores++;
		this.#agent.type('go');
		const [, head, a, b] = await this.#agent.shown(/^went on at (\w*) with (\d*) and (\d*)\.$/m);
		const [, step, commit] = /^(\d+) (\w+)$/.exec(target.note ?? '') ?? [];
		if (step !== undefined) expect({ head, a, b }).toEqual({ head: commit, a: step, b: step });
		await this.#agent.shown(/^step \d+$/m);
	}

	async #holdAndChoose(): Promise<Row> {
		this.#agent.type('hold');
		await this.#agent.shown(/^held at \d+$/m);
		const rows = this.#rows();
		const target = rows[Math.floor(this.#random() * rows.length)] as Row;
		this.#day.log(`restore ${target.id} of ${rows.length} (${target.trigger}, ${target.note ?? 'no label'})`);
		return target;
	}

	async #look(): Promise<void> {
		for (const args of [
			['diff', NAME, '--stat'],
			['log', NAME],
			['snap', NAME],
		]) {
			const ran = this.#rig.cli.run(args);
			expect(ran, `${args.join(' ')}: ${ran.stderr}`).toMatchObject({ code: 0 });
		}
	}

	async #stop(): Promise<void> {
		const ran = this.#rig.cli.run(['stop', NAME]);
		expect(ran, ran.stderr).toMatchObject({ code: 0 });
		await this.#agent.shown(/^ended with \d+$/m);
		await this.#beside.shown(/^left with \d+$/m);
		this.#expectNoFault();
	}

	#expectNoFault(): void {
		const text = this.#agent.text;
		const at = text.indexOf('FAULT');
		if (at >= 0) throw new Error(`the agent met a fault: ${text.slice(Math.max(0, at - 3000), at + 300)}`);
	}

	#rows(): Row[] {
		return this.#rig.cli.json<{ snapshots: Row[] }>(['list', NAME]).snapshots;
	}

	#status(): { state: string; pid: number | null } {
		return this.#rig.cli.json(['status', NAME]);
	}
}

/** Restores every snapshot and looks at the repository with git; how many there were. */
function verifySnapshots(rig: SessionRig, log: (text: string) => void): number {
	const { snapshots } = rig.cli.json<{ snapshots: Row[] }>(['list', NAME]);
	log(`${snapshots.length} snapshots are restored`);
	expect(damageOf(rig)).toEqual([]);
	expect(snapshots.flatMap((row) => faultsOf(rig, row))).toEqual([]);
	expect(damageOf(rig)).toEqual([]);
	return snapshots.length;
}

/** What is wrong with one snapshot. */
function faultsOf(rig: SessionRig, { id, trigger, note }: Row): string[] {
	const fault = (what: string) => [`snapshot ${id} (${trigger}, ${note ?? 'no label'}): ${what}`];
	const restored = rig.cli.run(['restore', NAME, String(id), '--yes']);
	if (restored.code !== 0) return fault(`not restored: ${restored.stderr}`);
	const run = ['quick', rig.project, '--snapshots', 'none', '--', 'sh', '-euc', VERIFY];
	const ran = rig.cli.run(run, { cwd: rig.project });
	if (ran.code !== 0) return fault(`${ran.stdout}${ran.stderr}`);
	const [seen, head, a, b] = /^head (\w+) a (\d*) b (\d*)$/m.exec(ran.stdout) ?? [];
	const [, step, commit] = /^(\d+) (\w+)$/.exec(note ?? '') ?? [];
	const asLabelled = head === commit && a === step && b === step;
	return (step === undefined ? isBetweenSteps(a, b) : asLabelled) ? [] : fault(`${seen}`);
}

/** The agent writes one after the other, and a shell empties a file before it writes it. */
function isBetweenSteps(a = '', b = ''): boolean {
	if (a === '' || b === '') return true;
	return a === b || Number(a) === Number(b) + 1;
}

const VERIFY = `export GIT_OPTIONAL_LOCKS=0
git fsck --strict 2>&1
git status --porcelain | wc -l
git log -1 --format=%h
find . -type f -exec cat {} + >/dev/null
echo "head $(git rev-parse HEAD) a $(cat state/a 2>/dev/null) b $(cat state/b 2>/dev/null)"`;

function damageOf({ cli }: SessionRig): readonly string[] {
	const store = Store.open(placeInStore(cli.storePath, NAME).dbPath, 'reader');
	try {
		return checkIntegrity(store).checks.flatMap(({ messages, harmless }) => (harmless === true ? [] : messages));
	} finally {
		store.close();
	}
}

/** Numbers from 0 up to 1 (mulberry32), the same for the same seed. */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

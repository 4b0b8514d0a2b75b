import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoCode } from '../base/errno.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { Refusal } from '../base/refusal.ts';
import { readMounts } from '../host/mount-info.ts';
import { foreignOwners } from './foreign-owners.ts';
import { gatherSpec } from './gather-spec.ts';
import { kernelFacts } from './kernel-facts.ts';
import { launch, type Outcome } from './launch.ts';
import { type Reason, reasonOf, storeReason } from './launch-reason.ts';
import { makeLayerDirectories } from './layer-directories.ts';
import { NO_LIMITS } from './limits.ts';
import { buildPlan } from './plan.ts';
import type { Plan } from './plan-writer.ts';
import type { SandboxSpec } from './sandbox-spec.ts';

/** Where the kernel backend is tried. */
export interface ProbeRequest {
	/** Directory of all sessions; must be writable. */
	readonly storePath: string;
	/** The base; null tries the store alone, and so does one that holds the store: a layer of it may not lie in another one. */
	readonly basePath: string | null;
	readonly launcher: string;
}

/** Whether the kernel can serve a layer here. */
export interface Probe {
	readonly possible: boolean;
	/** Why not; empty when it can. */
	readonly reasons: readonly Reason[];
	/** What works less well than it could. */
	readonly notes: readonly Reason[];
}

/**
 * Mounts a real overlay in the real store over the real base, with the whole sandbox around it, and does in it what agents do:
 * create, overwrite a file of the layer below, delete one, make a directory. What it made is removed again; the base is not
 * written. Takes some 10 ms; a run does not need it, as its own launch says the same when it fails.
 */
export async function probeKernelBackend(request: ProbeRequest): Promise<Probe> {
	const place = realpathSync(mkdtempSync(join(request.storePath, '.probe-')));
	try {
		return await probeIn(place, request);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return { possible: false, reasons: [{ code: error.code, why: error.message, remedy: error.hint }], notes: [] };
	} finally {
		removeProbe(place);
	}
}

async function probeIn(place: string, request: ProbeRequest): Promise<Probe> {
	const unfit = storeReason(place, readMounts());
	if (unfit !== null) return { possible: false, reasons: [unfit], notes: [] };
	const spec = probeSpec(place, request);
	makeLayerDirectories(spec);
	const plan = buildPlan(spec);
	const launched = launch({
		launcher: request.launcher,
		plan,
		environment: { PATH: PROGRAMS },
		scratch: place,
		streams: ['ignore', 'ignore', 'ignore'],
	});
	const outcome = await launched.ended;
	const reason = reasonAgainst(outcome, plan, place);
	return {
		possible: reason === null,
		reasons: reason === null ? [] : [reason],
		notes: spec.user.privileged || request.basePath === null ? [] : ownerNotes(request.basePath, spec.user.uid),
	};
}

const PROGRAMS = '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin';
const STEPS = 'echo 1 > created && echo 2 > lower-file && rm lower-gone && mkdir directory';

function probeSpec(place: string, { basePath }: ProbeRequest): SandboxSpec {
	const lower = join(place, 'lower');
	mkdirSync(lower);
	writeFileSync(join(lower, 'lower-file'), '1\n');
	writeFileSync(join(lower, 'lower-gone'), '1\n');
	const base = basePath === null || isWithin(place, realpathSync(basePath)) ? null : realpathSync(basePath);
	const path = base ?? '/run/dropcloth/probe';
	const [upper, work] = [join(place, 'upper'), join(place, 'work')];
	return gatherSpec({
		sessionId: 'probe',
		roots: [{ role: 'project', path, lowers: [lower, ...(base === null ? [] : [base])], upper, work }],
		home: null,
		cwd: path,
		reads: 'home',
		network: 'host',
		mask: [],
		unmask: [],
		bind: [],
		roBind: [],
		// The probe's own place is below the store and must not be taken for a base that lies in it.
		storePath: place,
		installed: [],
		channel: null,
		force: true,
		lock: null,
		control: false,
		limits: NO_LIMITS,
		command: ['/bin/sh', '-c', STEPS],
	});
}

function reasonAgainst(outcome: Outcome, plan: Plan, place: string): Reason | null {
	switch (outcome.kind) {
		case 'failed':
			return reasonOf(outcome.failure, { plan, kernel: kernelFacts(), mounts: readMounts() });
		case 'not-executed':
			return wrong(`/bin/sh could not be executed in it: ${errnoCode(outcome.errno)}`);
		case 'killed':
			return wrong(`what tried it was killed by signal ${outcome.signal}`);
		case 'exited':
			if (outcome.code !== 0) return wrong('files in it cannot be written as they should');
			return layerIsRight(join(place, 'upper')) ? null : wrong('what was written in it is not in the layer');
	}
}

function wrong(what: string): Reason {
	return {
		code: 'overlay-unfit',
		why: `an overlay could be mounted here, but ${what}`,
		remedy: 'put the store on another filesystem with --store',
	};
}

/** Whether the upper directory holds what the steps did, in overlayfs' encoding. */
function layerIsRight(upper: string): boolean {
	const gone = lstatSync(join(upper, 'lower-gone'), { throwIfNoEntry: false });
	return (
		readIfThere(join(upper, 'created')) === '1\n' &&
		readIfThere(join(upper, 'lower-file')) === '2\n' &&
		gone?.isCharacterDevice() === true &&
		gone.rdev === 0 &&
		lstatSync(join(upper, 'directory'), { throwIfNoEntry: false })?.isDirectory() === true
	);
}

function readIfThere(path: string): string | null {
	try {
		return readFileSync(path, 'utf8');
	} catch (error) {
		if (errorCode(error) !== 'ENOENT') throw error;
		return null;
	}
}

function ownerNotes(basePath: string, uid: number): Reason[] {
	const foreign = foreignOwners(basePath, uid);
	const [first] = foreign;
	if (first === undefined) return [];
	return [
		{
			code: 'foreign-owners',
			why: `${foreign.length === 1 ? 'one file' : `${foreign.length} files`} of the base belong to somebody else and cannot be changed inside, such as ${first}`,
			remedy: 'run as their owner, or choose a directory of your own',
		},
	];
}

function removeProbe(place: string): void {
	// overlayfs leaves a directory without permissions in its work directory.
	const inner = join(place, 'work', 'work');
	if (lstatSync(inner, { throwIfNoEntry: false }) !== undefined) chmodSync(inner, 0o700);
	rmSync(place, { recursive: true, force: true });
}

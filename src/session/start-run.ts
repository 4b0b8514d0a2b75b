import { systemClock } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';
import { LOCK_OWNER, type LockFile } from '../host/lock-file.ts';
import { bindWarning } from '../sandbox/binds.ts';
import { sandboxEnvironment } from '../sandbox/environment.ts';
import { gatherSpec } from '../sandbox/gather-spec.ts';
import { type Launched, type LaunchOptions, launch } from '../sandbox/launch.ts';
import { makeLayerDirectories } from '../sandbox/layer-directories.ts';
import { maskWarning } from '../sandbox/masks.ts';
import { NetworkGate } from '../sandbox/network-gate.ts';
import { buildPlan } from '../sandbox/plan.ts';
import type { Plan } from '../sandbox/plan-writer.ts';
import { checkBaseInPlace } from './base-directory.ts';
import type { ChannelServer } from './channel-server.ts';
import { EarlyEnd } from './early-end.ts';
import type { InsideEnvironment } from './join-terms.ts';
import type { Joinable } from './joined-runs.ts';
import { type LayerPlace, type LayerRole, type LayerRoot, upperPath, workPath } from './layer-place.ts';
import { planLimits, type RunLimits } from './run-limits.ts';
import type { RunRequest } from './run-request.ts';
import { projectBaseOf, sandboxRoots } from './run-roots.ts';
import type { SessionPlace } from './session-place.ts';
import { feedStandardInput, standardInput } from './standard-input.ts';

/** A launch that went through the lock and the mounts, or that is about to. */
export interface StartedRun {
	readonly launched: Launched;
	readonly lock: LockFile;
	readonly channel: ChannelServer;
	readonly plan: Plan;
	readonly cwd: string;
	/** Bytes of disk that the layer took before; null without a quota. */
	readonly usedBytes: number | null;
	readonly started: Time;
	readonly seenAt: ReadonlyMap<LayerRole, string>;
	/** What another command has to know to join. */
	readonly sandbox: Joinable;
	readonly end: EarlyEnd;
	/** The way out to some hosts; null when it is to all or none. */
	readonly gate: NetworkGate | null;
	/** Ends what goes on beside it: passing signals on, the timers of `end`, and the gate. */
	readonly attended: Disposable;
}

/** Builds the sandbox's plan and starts the launcher on it. Throws Refusal, and PosixError for the layer's directories. */
export function startRun(
	request: RunRequest,
	layer: LayerPlace,
	roots: readonly LayerRoot[],
	{ lock, channel, usedBytes }: Pick<StartedRun, 'lock' | 'channel' | 'usedBytes'>,
): StartedRun {
	const { target, sandbox, environment, launcher, clock = systemClock } = request;
	const started = clock.now();
	const basePath = projectBaseOf(roots);
	if (basePath !== null) checkBaseInPlace(basePath);
	const held = planLimits(request.limits);
	const spec = gatherSpec({
		...sandbox,
		limits: held.limits,
		mask: [...sandbox.mask, ...ownFiles(target.place)],
		sessionId: target.place.id,
		roots: sandboxRoots(target.place.id, roots, (role) => ({
			upper: upperPath(layer, role),
			work: workPath(layer, role),
		})),
		channel: channel.path,
		lock: { start: LOCK_OWNER, length: 1 },
		control: true,
	});
	makeLayerDirectories(spec);
	const plan = buildPlan(spec);
	for (const warning of [bindWarning(spec.binds), maskWarning(sandbox.mask)])
		if (warning !== null) request.notify(warning);
	if (held.instead !== null) request.notify(held.instead);
	request.onPlan?.(plan);
	const inside: InsideEnvironment = {
		network: spec.network,
		sessionId: target.place.id,
		backend: 'kernel',
		socketPath: spec.channel,
		covers: spec.host.covers,
	};
	const { launched, end, gate, attended } = launchAttended(request, held, {
		launcher,
		plan,
		environment: sandboxEnvironment({ ...environment, ...inside, cwd: spec.cwd }),
		scratch: layer.path,
		streams: [standardInput(), 'inherit', 'inherit'],
		lockFd: lock.fd,
		control: true,
	});
	feedStandardInput(launched, request.notify);
	const seenAt = new Map(spec.roots.map(({ role, path }) => [role, path]));
	const { user, limits, cwd } = spec;
	const joinable = { roots: spec.roots, user, limits, environment: inside, settings: request.settings };
	return { launched, lock, channel, plan, cwd, usedBytes, started, seenAt, sandbox: joinable, end, gate, attended };
}

/** What passes signals on is there before the launch: the command may run before anything else here does. */
function launchAttended(
	request: RunRequest,
	held: RunLimits,
	options: LaunchOptions,
): Pick<StartedRun, 'launched' | 'end' | 'gate' | 'attended'> {
	let launched: Launched | null = null;
	const group = held.make();
	const gate = NetworkGate.for(request.sandbox.network, request.notify);
	const signals = request.onLaunch?.({ kill: (signal) => launched?.kill(signal) });
	try {
		launched = launch(gate === null ? options : { ...options, handOutFd: gate.theirs });
		gate?.closeTheirs();
	} catch (error) {
		gate?.[Symbol.dispose]();
		signals?.[Symbol.dispose]();
		group[Symbol.dispose]();
		throw error;
	}
	const end = new EarlyEnd(launched, request.notify);
	end.afterTimeout(request.timeoutMs);
	// what has joined may go on
	void launched.commandEnded.then(() => end[Symbol.dispose]());
	const dispose = () => {
		signals?.[Symbol.dispose]();
		end[Symbol.dispose]();
		gate?.[Symbol.dispose]();
		group[Symbol.dispose]();
	};
	return { launched, end, gate, attended: { [Symbol.dispose]: dispose } };
}

/** A session's file outside the store has to be hidden like the store. */
function ownFiles({ ownDirectory, dbPath, sidePath }: SessionPlace): string[] {
	return ownDirectory === null ? [dbPath, `${dbPath}-wal`, `${dbPath}-shm`, sidePath] : [];
}

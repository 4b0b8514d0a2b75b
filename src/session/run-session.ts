import { type Clock, systemClock } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';
import { LOCK_OWNER, LockFile } from '../host/lock-file.ts';
import type { BackendChoice } from '../sandbox/backend.ts';
import { bindWarning } from '../sandbox/binds.ts';
import { type EnvironmentRequest, sandboxEnvironment } from '../sandbox/environment.ts';
import { gatherSpec } from '../sandbox/gather-spec.ts';
import { type Launched, type LaunchOptions, launch, type Outcome } from '../sandbox/launch.ts';
import { makeLayerDirectories } from '../sandbox/layer-directories.ts';
import type { LimitRequest } from '../sandbox/limits.ts';
import { maskWarning } from '../sandbox/masks.ts';
import { NetworkGate } from '../sandbox/network-gate.ts';
import { buildPlan } from '../sandbox/plan.ts';
import type { Plan } from '../sandbox/plan-writer.ts';
import type { LaunchFailure } from '../sandbox/report.ts';
import type { SandboxRequest } from '../sandbox/sandbox-request.ts';
import type { SignalTaker } from '../sandbox/signals.ts';
import { checkBaseInPlace } from './base-directory.ts';
import { ChannelServer } from './channel-server.ts';
import type { CheckpointTimes } from './checkpoint-clock.ts';
import { EarlyEnd, type EndReason } from './early-end.ts';
import type { InsideEnvironment, SandboxSetting } from './join-terms.ts';
import type { Joinable } from './joined-runs.ts';
import { type LayerPlace, type LayerRole, type LayerRoot, layerPlace, upperPath, workPath } from './layer-place.ts';
import type { LiveRun, RunTrace, SnapshotPolicy } from './live-run.ts';
import { describeRun, removeOwnerFile } from './owner-file.ts';
import type { QuotaWatch } from './quota.ts';
import { claimReadyToken } from './ready-token.ts';
import { planLimits, type RunLimits } from './run-limits.ts';
import { sandboxRoots, wantedRoots } from './run-roots.ts';
import type { RunTarget } from './run-target.ts';
import type { Notify, OwnedSession } from './session.ts';
import type { SessionPlace } from './session-place.ts';
import { feedStandardInput, standardInput } from './standard-input.ts';

/** A command to be run in a session. */
export interface RunRequest {
	readonly target: RunTarget;
	/** What the sandbox is to be, but for what the session itself decides. */
	readonly sandbox: Omit<SandboxRequest, 'sessionId' | 'roots' | 'channel' | 'lock' | 'control' | 'limits'>;
	readonly environment: Pick<EnvironmentRequest, 'outer' | 'set' | 'pass' | 'clear'>;
	readonly snapshots: SnapshotPolicy;
	/** When snapshots are taken while the command goes on, by a policy that wants any. */
	readonly checkpoints: CheckpointTimes;
	/** After which the command is ended; null lets it take as long as it wants. */
	readonly timeoutMs: number | null;
	/** Bytes of disk that the layer may take; null for as many as there are. */
	readonly quotaBytes: number | null;
	readonly limits: LimitRequest;
	readonly backend: BackendChoice;
	/** All flags that decide what the sandbox is: a command that joins has to agree. */
	readonly settings: readonly SandboxSetting[];
	/** Path of the launcher's binary. */
	readonly launcher: string;
	readonly notify: Notify;
	/** Called with the plan before anything is mounted. */
	readonly onPlan?: (plan: Plan) => void;
	/** Called when the command joins the run of another process. */
	readonly onJoin?: (owner: { readonly pid: number; readonly argv: readonly string[] }) => void;
	/** Called just before the launcher is started, such as to pass signals on to it; disposed when it has ended. */
	readonly onLaunch?: (launched: SignalTaker) => Disposable;
	/** Called when the command has ended and joined ones have not; `stop` ends them. */
	readonly onWaiting?: (stop: () => void) => void;
	readonly clock?: Clock;
}

/** How a run ended. */
export interface RunOutcome {
	readonly outcome: Outcome;
	readonly trace: RunTrace;
	/** Whether it joined the sandbox of another run, which is not over with it. */
	readonly joined: boolean;
	/** Why the command was ended, whatever it then ended with; null when it ended by itself. */
	readonly endedFor: EndReason | null;
}

/** A launch that went through the lock and the mounts, or that is about to. */
interface Started {
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

/**
 * Runs a command in a session and takes in what it did. When the last owner left word that the layer is ready, the command
 * is launched before anything else is looked at; otherwise the session is opened and made ready first.
 *
 * Throws Refusal: 'busy' when the session is live, 'sandbox' when the sandbox cannot be set up, 'invalid' for its file.
 */
export async function runSession(request: RunRequest): Promise<RunOutcome> {
	return (await runReady(request)) ?? (await runPrepared(request));
}

/** The fast way: null when it cannot be gone. */
async function runReady(request: RunRequest): Promise<RunOutcome | null> {
	const { target, sandbox, clock } = request;
	const { place, create } = target;
	using claim = create === null ? claimReadyToken(place) : null;
	if (claim === null) return null;
	const { roots, layer: number } = claim.token;
	if (!sameRoots(roots, wantedRoots(projectBase(roots), sandbox.home, sandbox.storePath))) return null;
	const layer = layerPlace(place, number);
	const started = await launchReady(request, layer, roots);
	if (started === null) return null;
	const [{ OwnedSession: Session }, { KernelLive }] = await loadStore();
	const own = () => Session.adoptLaunched(place, started.lock, (store) => KernelLive.existing(layer, store), clock);
	return await accompany(request, started, own, () => claim[Symbol.dispose]());
}

/** Launches and lets the launcher take the lock; null when somebody else has it. */
async function launchReady(
	request: RunRequest,
	layer: LayerPlace,
	roots: readonly LayerRoot[],
): Promise<Started | null> {
	const { lockPath, channelPath } = request.target.place;
	const channel = await ChannelServer.listen(channelPath);
	const lock = LockFile.open(lockPath);
	try {
		const usedBefore = await usedBytes(request, layer);
		const started = start(request, layer, roots, { lock, channel, usedBytes: usedBefore });
		// the store's engine is loaded while the kernel sets the sandbox up
		const [failure] = await Promise.all([failureOf(started.launched), loadStore()]);
		if (failure?.operation !== 'lock') return started;
		started.attended[Symbol.dispose]();
	} catch (error) {
		channel.close();
		lock.close();
		throw error;
	}
	channel.close();
	lock.close();
	return null;
}

function loadStore() {
	return Promise.all([import('./session.ts'), import('./kernel-live.ts')]);
}

async function runPrepared(request: RunRequest): Promise<RunOutcome> {
	const { prepareRun } = await import('./prepare-run.ts');
	const { session, layer, roots } = await prepareRun(request);
	let channel: ChannelServer | null = null;
	let started: Started;
	try {
		channel = await ChannelServer.listen(session.place.channelPath);
		// before anything can be written inside: a run that is killed leaves this behind
		describeRun(session.place, {
			layer,
			basePath: projectBase(roots),
			started: session.clock.now(),
			argv: request.sandbox.command,
			init: null,
		});
		const usedBefore = await usedBytes(request, layer);
		started = start(request, layer, roots, { lock: session.lock, channel, usedBytes: usedBefore });
	} catch (error) {
		channel?.close();
		removeOwnerFile(session.place);
		session.close();
		throw error;
	}
	return await accompany(request, started, () => session);
}

/** Measured with a quota only: it takes a walk. Throws Refusal 'full' when there is nothing left of it. */
async function usedBytes({ target, quotaBytes }: RunRequest, layer: LayerPlace): Promise<number | null> {
	if (quotaBytes === null) return null;
	const { checkQuota } = await import('./quota.ts');
	return checkQuota(target.place.id, layer, quotaBytes);
}

function start(
	request: RunRequest,
	layer: LayerPlace,
	roots: readonly LayerRoot[],
	{ lock, channel, usedBytes }: Pick<Started, 'lock' | 'channel' | 'usedBytes'>,
): Started {
	const { target, sandbox, environment, launcher, clock = systemClock } = request;
	const started = clock.now();
	const basePath = projectBase(roots);
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
): Pick<Started, 'launched' | 'end' | 'gate' | 'attended'> {
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

/** `onDescribed` is called when the owner's file is written. Whatever goes wrong, nothing goes on inside unattended. */
async function accompany(
	request: RunRequest,
	started: Started,
	own: () => OwnedSession,
	onDescribed = () => {},
): Promise<RunOutcome> {
	const { launched, plan, cwd } = started;
	using _ = started.attended;
	let session: OwnedSession | null = null;
	try {
		session = own();
		const failure = await failureOf(launched);
		if (failure !== null) {
			removeOwnerFile(session.place);
			const { explainFailure } = await import('../sandbox/explain.ts');
			throw explainFailure(failure, plan, request.backend);
		}
		await started.gate?.open();
		const [{ LiveRun }, { liveVerbs }, { channelRequests }] = await Promise.all([
			import('./live-run.ts'),
			import('./live-verbs.ts'),
			import('./channel-requests.ts'),
		]);
		const run = LiveRun.begin(session, launched, {
			argv: request.sandbox.command,
			cwd,
			started: started.started,
			snapshots: request.snapshots,
			checkpoints: request.checkpoints,
			seenAt: started.seenAt,
			sandbox: started.sandbox,
			notify: request.notify,
			...(request.onWaiting === undefined ? {} : { onWaiting: request.onWaiting }),
		});
		onDescribed();
		started.channel.answerWith(channelRequests(run));
		using end = new EarlyEnd(run, request.notify);
		using _quota = await watchQuota(request, started, run, end);
		const ended = await run.accompany(liveVerbs(run));
		return { ...ended, joined: false, endedFor: started.end.reason ?? end.reason };
	} catch (error) {
		if (!launched.hasEnded) launched.kill('SIGKILL');
		await launched.ended;
		throw error;
	} finally {
		started.channel.close();
		if (session === null) started.lock.close();
		else session.close();
	}
}

async function watchQuota(
	{ quotaBytes, notify }: RunRequest,
	{ usedBytes }: Started,
	run: LiveRun,
	end: EarlyEnd,
): Promise<QuotaWatch | null> {
	if (quotaBytes === null || usedBytes === null) return null;
	const { QuotaWatch: Watch } = await import('./quota.ts');
	const quota = new Watch(run.layer.place, quotaBytes, usedBytes, end, notify);
	run.watchQuota(quota);
	return quota;
}

/** What kept the launcher from getting as far as the command; null when all mounts are made. */
async function failureOf(launched: Launched): Promise<LaunchFailure | null> {
	await launched.ready;
	return launched.report().failure;
}

/** A session's file outside the store has to be hidden like the store. */
function ownFiles({ ownDirectory, dbPath, sidePath }: SessionPlace): string[] {
	return ownDirectory === null ? [dbPath, `${dbPath}-wal`, `${dbPath}-shm`, sidePath] : [];
}

function projectBase(roots: readonly LayerRoot[]): string | null {
	return roots.find(({ role }) => role === 'project')?.basePath ?? null;
}

function sameRoots(a: readonly LayerRoot[], b: readonly LayerRoot[]): boolean {
	const text = (roots: readonly LayerRoot[]) =>
		JSON.stringify(roots.map(({ role, basePath }) => [role, basePath]).sort());
	return text(a) === text(b);
}

import { LockFile } from '../host/lock-file.ts';
import { accompanyRun, failureOf } from './accompany-run.ts';
import { ChannelServer } from './channel-server.ts';
import { checkUser } from './check-user.ts';
import { type LayerPlace, type LayerRoot, layerPlace } from './layer-place.ts';
import { describeRun, removeOwnerFile } from './owner-file.ts';
import { claimReadyToken } from './ready-token.ts';
import type { RunOutcome, RunRequest } from './run-request.ts';
import { projectBaseOf, wantedRoots } from './run-roots.ts';
import { type StartedRun, startRun } from './start-run.ts';

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
	if (create !== null) return null;
	checkUser(place);
	using claim = claimReadyToken(place);
	if (claim === null) return null;
	const { roots, layer: number } = claim.token;
	if (!sameRoots(roots, wantedRoots(projectBaseOf(roots), sandbox.home, sandbox.storePath))) return null;
	const layer = layerPlace(place, number);
	const started = await launchReady(request, layer, roots);
	if (started === null) return null;
	const [{ OwnedSession: Session }, { KernelLive }] = await loadStore();
	const own = () => Session.adoptLaunched(place, started.lock, (store) => KernelLive.existing(layer, store), clock);
	return await accompanyRun(request, started, own, () => claim[Symbol.dispose]());
}

/** Launches and lets the launcher take the lock; null when somebody else has it. */
async function launchReady(
	request: RunRequest,
	layer: LayerPlace,
	roots: readonly LayerRoot[],
): Promise<StartedRun | null> {
	const { lockPath, channelPath } = request.target.place;
	const channel = await ChannelServer.listen(channelPath);
	const lock = LockFile.open(lockPath);
	try {
		const usedBefore = await usedBytes(request, layer);
		const started = startRun(request, layer, roots, { lock, channel, usedBytes: usedBefore });
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
	let started: StartedRun;
	try {
		channel = await ChannelServer.listen(session.place.channelPath);
		// before anything can be written inside: a run that is killed leaves this behind
		describeRun(session.place, {
			layer,
			basePath: projectBaseOf(roots),
			started: session.clock.now(),
			argv: request.sandbox.command,
			init: null,
		});
		const usedBefore = await usedBytes(request, layer);
		started = startRun(request, layer, roots, { lock: session.lock, channel, usedBytes: usedBefore });
	} catch (error) {
		channel?.close();
		removeOwnerFile(session.place);
		session.close();
		throw error;
	}
	return await accompanyRun(request, started, () => session);
}

/** Measured with a quota only: it takes a walk. Throws Refusal 'full' when there is nothing left of it. */
async function usedBytes({ target, quotaBytes }: RunRequest, layer: LayerPlace): Promise<number | null> {
	if (quotaBytes === null) return null;
	const { checkQuota } = await import('./quota.ts');
	return checkQuota(target.place.id, layer, quotaBytes);
}

function sameRoots(a: readonly LayerRoot[], b: readonly LayerRoot[]): boolean {
	const text = (roots: readonly LayerRoot[]) =>
		JSON.stringify(roots.map(({ role, basePath }) => [role, basePath]).sort());
	return text(a) === text(b);
}

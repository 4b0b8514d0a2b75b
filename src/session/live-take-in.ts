import type { Time } from '../base/inode.ts';
import { parentPath } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import type { Launched } from '../sandbox/launch.ts';
import { writableFiles } from '../sandbox/writable-files.ts';
import { flushMapped, inTrees } from './flush-mapped.ts';
import type { KernelLive } from './kernel-live.ts';
import type { LayerRole } from './layer-place.ts';
import type { LayerWatch } from './layer-watch.ts';
import type { OwnedSession } from './session.ts';
import { TakeIn } from './take-in.ts';

/** The trees of a live layer by where they are seen inside. */
export type SeenAt = ReadonlyMap<LayerRole, string>;

/** What a live layer is, and what is known of it. */
export interface TakeInPlace {
	readonly session: OwnedSession;
	readonly layer: KernelLive;
	readonly launched: Launched;
	readonly seenAt: SeenAt;
	/** When the layer was last known to hold nothing that the store does not: see OriginFinder. */
	readonly agreedAt: Time;
	/** Null when nobody watches the layer. */
	readonly watch: LayerWatch | null;
}

/** How a layer is to be looked at. */
export interface TakeInManner {
	/** Look everywhere first, whatever the watch says. */
	readonly isFull?: boolean;
	/** Write nothing when there is nothing new. */
	readonly onlyNews?: boolean;
}

/** The moment at which a live layer was looked at. */
export interface Moment {
	/** Whether nothing had moved since the look before, nor while all was to stand still. */
	readonly atRest: boolean;
	/** How long everything stood still, from the request to stop to the answer that it goes on; 0 when nothing ran any more. */
	readonly frozenMs: number;
}

/** A first look that takes longer leaves so much behind that another follows it before anything is stopped. */
const LONG_LOOK_MS = 200;
const MOST_LOOKS = 3;

/**
 * Takes a live layer in as it is at one moment. What is new is read while everything runs; then all stands still for as
 * long as it takes to look again, where something happened meanwhile, and to read what moved. `within` joins the
 * transaction, and what it gives is the `result`. What cannot be stopped is looked at as it runs, for it must not keep its
 * own history from being written. Null when only news were wanted and there are none.
 */
export async function takeInLive<T>(
	place: TakeInPlace,
	manner: TakeInManner,
	within: (moment: Moment) => T,
): Promise<{ readonly result: T } | null> {
	const { session, layer, launched, watch } = place;
	const takeIn = new TakeIn(session.store, layer, place.agreedAt);
	const init = await launched.init;
	let mark = lookAround(place, takeIn, init, manner.isFull === true);
	const before = takeIn.news;
	const hasNews = () => manner.onlyNews !== true || takeIn.news > 0;
	const commit = (moment: Moment) => {
		if (!hasNews()) return null;
		const result = takeIn.commit(() => within(moment));
		watch?.taken(mark);
		return { result };
	};
	if (init === null) return commit({ atRest: true, frozenMs: 0 });
	if (!hasNews() && layer.mapped.size === 0 && watch?.attend(0) === false) return null;
	let mapped = layer.mapped;
	const { frozenMs, undisturbed } = await layer.freeze(() => {
		const files = writableFiles(init, watch !== null);
		mapped = flushMapped(place, takeIn, files);
		// after all stand still: what happened until then is in the queue
		const now = watch?.mark() ?? 0;
		const open = inTrees(place, files.open);
		takeIn.scan(mapped, (role) =>
			files.hasOpenUnnamed ? null : withParents(watch?.changedSince(role, mark), open.get(role)),
		);
		mark = now;
	});
	const result = commit({ atRest: undisturbed && takeIn.news === before, frozenMs });
	layer.mapped = mapped;
	return result;
}

/** Looks while everything runs, until a look was short; the mark before the last one. */
function lookAround(place: TakeInPlace, takeIn: TakeIn, init: number | null, isFull: boolean): number {
	const { watch } = place;
	let since: number | undefined;
	for (let looks = 1; ; looks++) {
		const beganMs = performance.now();
		const mark = watch?.mark() ?? 0;
		const mapped = init === null ? new Map() : flushMapped(place, takeIn, writableFiles(init, false));
		const last = since;
		takeIn.scan(mapped, (role) => (isFull && looks === 1 ? null : (watch?.changedSince(role, last) ?? null)));
		if (looks === MOST_LOOKS || performance.now() - beganMs < LONG_LOOK_MS) return mark;
		since = mark;
	}
}

function withParents(
	directories: ReadonlySet<string> | null | undefined,
	files: ReadonlySet<string> = new Set(),
): ReadonlySet<string> | null {
	return directories ? new Set([...directories, ...Array.from(files, parentPath)]) : null;
}

/**
 * The same for what is to be done before anything goes on: everything that the layer holds is committed while all stands
 * still, and then `still` is called with the first process inside, or with null when nothing runs any more.
 */
export async function takeInAndHold<T>(place: TakeInPlace, still: (init: number | null) => T): Promise<T> {
	const { session, layer, launched } = place;
	const takeIn = new TakeIn(session.store, layer, place.agreedAt);
	const init = await launched.init;
	const look = () => (init === null ? new Map() : flushMapped(place, takeIn, writableFiles(init, false)));
	takeIn.scan(look());
	let result: { value: T } | null = null;
	await layer.freeze((standsStill) => {
		if (!standsStill) throw notStill();
		const mapped = look();
		takeIn.scan(mapped);
		takeIn.commit(() => {});
		layer.mapped = mapped;
		result = { value: still(launched.hasEnded ? null : init) };
	});
	if (result === null) throw new Error('a freeze ended without its action');
	return (result as { value: T }).value;
}

function notStill(): Refusal {
	return new Refusal('busy', 'not-still', 'something that runs in the session cannot be made to stand still', {
		hint: 'try again, or end the run with `dropcloth stop`',
	});
}

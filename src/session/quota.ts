import { statfsSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';
import { allocatedBytes } from '../layer/allocated-bytes.ts';
import type { EarlyEnd } from './early-end.ts';
import { hasLayerRoot, LAYER_ROLES, type LayerPlace, upperPath } from './layer-place.ts';

/** How much of its quota a layer takes; `near` from 80 % on. */
export interface QuotaState {
	readonly limitBytes: number;
	readonly usedBytes: number;
	readonly state: 'below' | 'near' | 'reached';
}

const NEAR = 0.8;
/** A layer that grows on so far beyond its quota is not waited for any more. */
const FAR_BEYOND = 1.1;
const LOOK_MS = 250;
/** Room on the disk tells of most growth, not of what others free meanwhile. */
const MEASURE_AT_LEAST_MS = 60_000;

/**
 * Watches that a layer does not outgrow its quota while a command writes to it: no filesystem enforces it for us. The
 * room on the disk is looked at often, and when it fell by a part of what the quota leaves, the layer is measured. At the
 * limit the command is ended; what it wrote is taken in.
 */
export class QuotaWatch implements Disposable {
	readonly #layer: LayerPlace;
	readonly #limitBytes: number;
	readonly #end: EarlyEnd;
	readonly #notify: (text: string) => void;
	readonly #timer: NodeJS.Timeout;
	#usedBytes: number;
	#state: QuotaState['state'] = 'below';
	/** The room on the disk when the layer was last measured, and when that was. */
	#freeBytes: number;
	#measuredMs = performance.now();
	/** Told of another state. */
	onChange = () => {};

	/** `usedBytes` is what {@link checkQuota} measured. */
	constructor(layer: LayerPlace, limitBytes: number, usedBytes: number, end: EarlyEnd, notify: (text: string) => void) {
		this.#layer = layer;
		this.#limitBytes = limitBytes;
		this.#end = end;
		this.#notify = notify;
		this.#freeBytes = freeBytes(layer);
		this.#usedBytes = usedBytes;
		this.#judge();
		this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
	}

	get state(): QuotaState {
		return { limitBytes: this.#limitBytes, usedBytes: this.#usedBytes, state: this.#state };
	}

	/** Measures the layer now. */
	check(): void {
		const free = freeBytes(this.#layer);
		const used = layerBytes(this.#layer);
		if (used === null) return;
		this.#freeBytes = free;
		this.#measuredMs = performance.now();
		this.#usedBytes = used;
		this.#judge();
	}

	[Symbol.dispose](): void {
		clearInterval(this.#timer);
	}

	#look(): void {
		const left = Math.max(0, this.#limitBytes - this.#usedBytes);
		const isGrown = this.#freeBytes - freeBytes(this.#layer) > left / 4;
		if (isGrown || performance.now() - this.#measuredMs > MEASURE_AT_LEAST_MS) this.check();
	}

	#judge(): void {
		const used = this.#usedBytes / this.#limitBytes;
		const before = this.#state;
		this.#state = used >= 1 ? 'reached' : used >= NEAR ? 'near' : 'below';
		const fact = `the layer takes ${mebibytes(this.#usedBytes)} of its quota of ${mebibytes(this.#limitBytes)}`;
		if (this.#state === 'reached') {
			this.#end.now('quota', fact);
			if (used >= FAR_BEYOND) this.#end.kill(fact);
		} else if (this.#state === 'near' && before === 'below') {
			this.#notify(`${fact}; at the quota the command is ended`);
		}
		if (this.#state !== before) this.onChange();
	}
}

/** The bytes that a layer takes before a command is launched on it. Throws Refusal 'full' when the quota allows no more. */
export function checkQuota(sessionId: string, layer: LayerPlace, limitBytes: number): number {
	const used = layerBytes(layer) ?? 0;
	if (used < limitBytes) return used;
	const what = `the layer of session '${sessionId}' takes ${mebibytes(used)}, the quota is ${mebibytes(limitBytes)}`;
	throw new Refusal('full', 'quota-reached', what, {
		hint: 'give a higher --quota, or throw changes away with `dropcloth restore`',
	});
}

/** Bytes of disk that all trees of a layer take; null when it has to be measured again. */
function layerBytes(layer: LayerPlace): number | null {
	let sum = 0;
	for (const role of LAYER_ROLES) {
		if (!hasLayerRoot(layer, role)) continue;
		const bytes = allocatedBytes(upperPath(layer, role));
		if (bytes === null) return null;
		sum += bytes;
	}
	return sum;
}

function freeBytes({ path }: LayerPlace): number {
	const { bavail, bsize } = statfsSync(fsPath(path));
	return bavail * bsize;
}

const MEBIBYTE = 1024 ** 2;

function mebibytes(bytes: number): string {
	return `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
}

import { Refusal } from '../base/refusal.ts';
import type { Reason } from './launch-reason.ts';

/** `--mount-backend`. */
export type BackendChoice = 'auto' | 'kernel' | 'fuse';

/** Which backend serves the layer, and why the others do not. */
export interface Backend {
	readonly name: 'kernel';
	readonly reason: string;
}

/**
 * The backend for a choice. Nothing is tried beforehand: the launch itself says whether the kernel can, and
 * `explainFailure` why when it cannot. Throws Refusal 'sandbox'.
 */
export function chooseBackend(choice: BackendChoice): Backend {
	if (choice === 'fuse') {
		throw new Refusal('sandbox', 'fuse-not-yet', 'the FUSE backend comes in a later version (--mount-backend fuse)', {
			hint: 'leave --mount-backend out, or give kernel',
		});
	}
	const reason = choice === 'kernel' ? 'asked for with --mount-backend kernel' : 'the kernel can serve this layer';
	return { name: 'kernel', reason: `${reason}; fuse comes in a later version` };
}

/** The refusal for a reason against the kernel backend; `details` goes into `--json`. */
export function backendRefusal(choice: BackendChoice, { code, why, remedy }: Reason, details: unknown = null): Refusal {
	const fuseCould = choice === 'auto' && FUSE_COULD.has(code);
	const message = fuseCould ? `${why}; the FUSE backend, which could serve it, comes in a later version` : why;
	const kind = code === 'session-locked' ? 'busy' : 'sandbox';
	return new Refusal(kind, code, message, { ...(remedy === null ? {} : { hint: remedy }), details });
}

/** Reasons against overlayfs alone: a sandbox as such can be had. */
const FUSE_COULD = new Set(['mount-below-base', 'store-unfit', 'no-overlayfs', 'nested-too-deep', 'overlay-unfit']);

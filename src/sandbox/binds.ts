import { isWithin } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import { layerState } from './layer-state.ts';
import { realPath, realPathOfNew } from './real-path.ts';
import type { Bind, SandboxRoot } from './sandbox-spec.ts';

/** What `--bind` and `--ro-bind` are checked against. */
export interface BindRequest {
	/** `P` or `P:Q`, absolute. */
	readonly bind: readonly string[];
	readonly roBind: readonly string[];
	readonly roots: readonly SandboxRoot[];
	readonly storePath: string;
	/** Places that are made anew for a run, so that a mount point can be made in them. */
	readonly madeAnew: readonly string[];
}

/** The binds that were asked for, with real paths. Throws Refusal 'usage' for one that cannot be. */
export function findBinds(request: BindRequest): Bind[] {
	return [
		...request.roBind.map((text) => findBind(request, text, '--ro-bind', false)),
		...request.bind.map((text) => findBind(request, text, '--bind', true)),
	];
}

/** What is said once when a run has writable binds, or null. */
export function bindWarning(binds: readonly Bind[]): string | null {
	const places = binds.filter(({ writable }) => writable).map(({ source }) => source);
	if (places.length === 0) return null;
	return `writes to ${places.join(', ')} reach the host and are in no snapshot (--bind)`;
}

/** `P[:Q]`: a path that exists as it stands is P alone, so that a name with a colon can be given. */
export function parseBind(text: string): { source: string; target: string | null } {
	const colon = text.indexOf(':/');
	if (colon <= 0 || realPath(text) !== null) return { source: text, target: null };
	return { source: text.slice(0, colon), target: text.slice(colon + 1) };
}

function findBind(request: BindRequest, text: string, option: string, writable: boolean): Bind {
	const { source, target } = parseBind(text);
	const real = realPath(source);
	if (real === null) {
		throw new Refusal('usage', 'bind-missing', `${option} ${text}: ${source} does not exist or cannot be reached`);
	}
	const bind: Bind = {
		source: real.path,
		target: target === null ? real.path : realPathOfNew(target),
		directory: real.directory,
		writable,
		reason: option,
	};
	checkBind(request, bind, `${option} ${text}`);
	return bind;
}

const OWN_PLACES = ['/', '/dev', '/proc', '/sys'];

function checkBind({ roots, storePath, madeAnew }: BindRequest, bind: Bind, given: string): void {
	const refuse = (why: string, hint?: string) =>
		new Refusal('usage', 'bind-refused', `${given}: ${why}`, hint === undefined ? {} : { hint });
	if (OWN_PLACES.includes(bind.target)) throw refuse(`${bind.target} is always the sandbox's own`);
	if (isWithin(bind.source, storePath)) throw refuse('it lies in the store of the sessions, which no agent may see');
	const root = roots.find(({ path }) => path === bind.target);
	if (root !== undefined) throw refuse(`${bind.target} is shown as the session has it (${root.role})`);
	if (madeAnew.some((place) => isWithin(bind.target, place))) return;
	const hint = 'give a place that exists, or one below /tmp or /run';
	const state = layerState(roots, bind.target);
	if (state === 'gone' || state === 'symlink') throw refuse(`${bind.target} is no more in the session`, hint);
	const there = state === 'untouched' ? realPath(bind.target)?.directory : state === 'directory';
	if (there === undefined) throw refuse(`${bind.target} does not exist, and nothing is ever made on the host`, hint);
	if (there !== bind.directory) throw refuse(`one of the two is a directory and the other is not`);
}

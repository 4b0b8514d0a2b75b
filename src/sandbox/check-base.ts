import { isWithin } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';
import type { SandboxRoot, SandboxUser } from './sandbox-spec.ts';
import { outermostMountsBelow } from './submounts.ts';

/** What the bases of a session are checked against. */
export interface BaseRequest {
	readonly roots: readonly SandboxRoot[];
	readonly home: string | null;
	readonly storePath: string;
	readonly force: boolean;
	readonly user: Pick<SandboxUser, 'privileged'>;
	readonly mountPoints: readonly string[];
}

/** Throws Refusal for a base that cannot be laid over, or (without `force`) that nobody wants to be. */
export function checkBase(request: BaseRequest): void {
	for (const root of request.roots) {
		if (root.role === 'home' || root.lowers.length === 0) continue;
		checkPlace(request, root);
		checkSubmounts(request, root);
	}
}

const SYSTEM_PLACES = ['/proc', '/sys', '/dev'];

function checkPlace({ home, storePath, force }: BaseRequest, { path }: SandboxRoot): void {
	const refuse = (why: string, hint: string) =>
		new Refusal('failed', 'base-refused', `the base ${path} ${why}`, { hint });
	if (path === '/') throw refuse('is the whole machine', 'give the directory of the project');
	const system = SYSTEM_PLACES.find((place) => isWithin(path, place) && !isWithin(path, '/dev/shm'));
	if (system !== undefined)
		throw refuse(`lies in ${system}, which is made anew for every run`, 'give the directory of the project');
	if (isWithin(path, storePath))
		throw refuse(`lies in the store of the sessions (${storePath})`, 'give another directory');
	if (force) return;
	if (home !== null && isWithin(home, path)) {
		const what = home === path ? 'is your home directory' : 'holds your home directory';
		throw refuse(
			`${what}: logins, histories and caches would be part of every snapshot and diff`,
			'give a directory below it, or --force',
		);
	}
}

function checkSubmounts({ user, mountPoints }: BaseRequest, { path, lowers }: SandboxRoot): void {
	if (user.privileged || !lowers.includes(path)) return;
	const [first] = outermostMountsBelow(path, mountPoints);
	if (first === undefined) return;
	throw new Refusal(
		'sandbox',
		'mount-below-base',
		`something is mounted at ${first}, below the base ${path}: the kernel refuses an overlay over it`,
		{
			hint: `unmount ${first}, run as root, or give a base without it`,
		},
	);
}

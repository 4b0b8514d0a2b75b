import { isWithin } from '../base/paths.ts';
import { DEVICE_DIRECTORY, EMPTY_DIRECTORY, EMPTY_FILE, makeDevices } from './device-plan.ts';
import { setIdentity } from './identity-plan.ts';
import { enterGroup, limitEach } from './limits.ts';
import { PROXY_ADDRESS, PROXY_PORT } from './network-access.ts';
import { containerOf, coversOf, type Place, placesOf } from './places.ts';
import { type Plan, PlanWriter, type Slot } from './plan-writer.ts';
import { mountProc, takeProc } from './proc-plan.ts';
import type { Bind, SandboxSpec } from './sandbox-spec.ts';

/**
 * The operations that make what the agent sees and run its command there, and the mounts among them for people. Pure: the
 * same spec gives the same plan. Nothing is attached before everything that must stay writable was taken from the host's
 * view, because one recursive call then makes all of that view read-only.
 */
export function buildPlan(spec: SandboxSpec): Plan {
	const plan = new PlanWriter();
	const places = placesOf(spec);
	enterNamespaces(plan, spec);
	const slots = takeFromHost(plan, spec, places);
	// A device can be written through a read-only mount, and may lie anywhere, such as in the tree of a container.
	plan.do('setattr', '/', 'ro,nodev', 'rec');
	plan.mounts.push({ path: '/', source: '/', kind: 'read-only bind', reason: 'everything that is not listed below' });
	makePrivatePlaces(plan, spec, slots);
	attachPlaces(plan, spec, places, slots);
	runCommand(plan, spec);
	return { operations: plan.operations, mounts: plan.mounts };
}

/** What was made before the host's view became read-only. */
interface Slots {
	readonly byPath: ReadonlyMap<Place, Slot>;
	readonly devices: ReadonlyMap<string, Slot>;
	/** The host's /proc, where the kernel allows no new one; else null. */
	readonly proc: Slot | null;
	/** The host's home directory, when it is shown in pieces; else null. */
	readonly home: Slot | null;
}

const STAGED_HOME = `${DEVICE_DIRECTORY}/.home`;

function enterNamespaces(plan: PlanWriter, { lock, limits, network, user }: SandboxSpec): void {
	if (lock !== null) plan.do('lock', LOCK_FD, lock.start, lock.length);
	enterGroup(plan, limits);
	const namespaces = ['mount', 'pid', 'ipc', 'uts'];
	if (!user.privileged) namespaces.unshift('user');
	if (network !== 'host') namespaces.push('net');
	plan.do('unshare', namespaces.join());
	if (!user.privileged) plan.do('map', `0 ${user.uid} 1`, `0 ${user.gid} 1`);
	plan.do('init');
	plan.do('private');
}

/** The descriptor on which the launcher finds the owner's lock. */
export const LOCK_FD = 6;

function takeFromHost(plan: PlanWriter, spec: SandboxSpec, places: readonly Place[]): Slots {
	const byPath = new Map<Place, Slot>();
	for (const place of places) {
		if (place.kind === 'overlay') {
			const { upper, work, lowers } = place.overlay;
			byPath.set(place, plan.overlay(upper, work, lowers));
		} else if (place.kind === 'bind') {
			byPath.set(place, plan.tree(place.source, bindAttributes(place), 'rec'));
		}
	}
	const pieces = places.some(({ kind }) => kind === 'home-entry') && spec.home !== null;
	return {
		byPath,
		devices: new Map(spec.host.devices.map((path) => [path, plan.tree(path, '', 'one')])),
		proc: takeProc(plan, spec),
		home: pieces ? plan.tree(spec.home, 'ro,nosuid,nodev', 'rec') : null,
	};
}

/** Devices are shown where somebody asked for what lies in /dev. */
function bindAttributes({ source, writable }: Pick<Bind, 'source' | 'writable'>): string {
	return `${writable ? '' : 'ro,'}nosuid${isWithin(source, '/dev') ? '' : ',nodev'}`;
}

function makePrivatePlaces(plan: PlanWriter, spec: SandboxSpec, slots: Slots): void {
	makeDevices(plan, slots.devices);
	for (const path of spec.host.covers) {
		plan.fresh(path, 'tmpfs', path === '/run' ? 'mode=0755' : 'mode=1777', 'nosuid,nodev', 'private to this run');
	}
	if (spec.host.covers.includes('/run')) makeRunDirectory(plan, spec.user.uid);
	mountProc(plan, spec, slots.proc);
}

/** What programs expect to find in /run; XDG_RUNTIME_DIR points at the last one. */
function makeRunDirectory(plan: PlanWriter, uid: number): void {
	plan.do('mkdir', '/run/lock', 0o1777);
	plan.do('mkdir', '/run/user', 0o755);
	plan.do('mkdir', `/run/user/${uid}`, 0o700);
}

function attachPlaces(plan: PlanWriter, spec: SandboxSpec, places: readonly Place[], slots: Slots): void {
	if (slots.home !== null) {
		plan.do('mkdir', STAGED_HOME, 0o700);
		plan.do('attach', slots.home, STAGED_HOME);
	}
	const rooms = [...coversOf(spec).map((path) => ({ path, room: true })), ...places.map(asContainer)];
	for (const place of places) {
		const container = containerOf(place.path, rooms);
		if (container?.room === true) plan.makePlace(container.path, place.path, isDirectory(place));
		attachPlace(plan, place, slots);
	}
	makeLinks(plan, spec, rooms);
	for (const { kind, path } of places) if (kind === 'room') plan.do('setattr', path, 'ro', 'one');
	if (slots.home !== null) plan.do('umount', STAGED_HOME);
	plan.do('setattr', DEVICE_DIRECTORY, 'ro', 'one');
}

/** Those in directories that are made anew; home's own are in its skeleton, and the rest is seen where it is. */
function makeLinks(plan: PlanWriter, { links }: SandboxSpec, rooms: readonly { path: string; room: boolean }[]): void {
	for (const { path, target } of links) {
		const container = containerOf(path, rooms);
		if (container?.room === true) plan.link(container.path, path, target);
	}
}

function asContainer({ kind, path }: Place): { path: string; room: boolean } {
	return { path, room: kind === 'room' };
}

function isDirectory(place: Place): boolean {
	return place.kind === 'bind' || place.kind === 'mask' ? place.directory : true;
}

function attachPlace(plan: PlanWriter, place: Place, slots: Slots): void {
	const { path, reason } = place;
	switch (place.kind) {
		case 'overlay':
			plan.attach(slotOf(slots, place), { path, source: place.overlay.upper, kind: 'overlay', reason });
			break;
		case 'bind': {
			const kind = place.writable ? 'bind' : 'read-only bind';
			const mount = { path, source: place.source, kind, reason } as const;
			if (place.optional === true) plan.offer(slotOf(slots, place), mount);
			else plan.attach(slotOf(slots, place), mount);
			break;
		}
		case 'home-entry':
			plan.bindFrom(`${STAGED_HOME}/${place.name}`, 'ro,nosuid,nodev', 'rec', {
				path,
				source: path,
				kind: 'read-only bind',
				reason,
			});
			break;
		case 'mask':
			plan.mask(EMPTY_DIRECTORY, EMPTY_FILE, path, reason);
			break;
		case 'room':
			plan.fresh(path, 'tmpfs', 'mode=0755,size=1m', 'nosuid,nodev', reason);
			break;
	}
}

function slotOf(slots: Slots, place: Place): Slot {
	const slot = slots.byPath.get(place);
	if (slot === undefined) throw new Error(`nothing was made for ${place.path}`);
	return slot;
}

/** After which the launcher itself thaws what its owner froze: the owner may have been stopped in the middle. */
const LONGEST_FREEZE_MS = 60_000;

function runCommand(plan: PlanWriter, { network, control, user, cwd, command, limits }: SandboxSpec): void {
	if (network !== 'host') plan.do('lo');
	if (typeof network !== 'string') plan.do('listen', PROXY_ADDRESS, PROXY_PORT);
	if (control) plan.do('control', LONGEST_FREEZE_MS);
	setIdentity(plan, user);
	plan.do('confine', 'seccomp,landlock');
	limitEach(plan, limits);
	plan.do('chdir', cwd);
	plan.do('exec', command.length, ...command);
}

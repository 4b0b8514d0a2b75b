import { isWithin } from '../base/paths.ts';
import type { PlanWriter, Slot } from './plan-writer.ts';
import type { SandboxSpec } from './sandbox-spec.ts';

/** Directories of /proc through which root could change the host, and files that tell too much. */
export const PROC_DIRECTORIES = [
	'sys',
	'sysrq-trigger',
	'irq',
	'bus',
	'acpi',
	'scsi',
	'fs',
	'dynamic_debug',
	'driver',
	'tty',
].map((name) => `/proc/${name}`);
export const PROC_FILES = ['kcore', 'keys', 'timer_list'].map((name) => `/proc/${name}`);

/**
 * The host's /proc, to be shown where the kernel allows no new one: a user namespace may mount proc only while one without
 * covered parts is visible (fs/namespace.c, mount_too_revealing). Null where a new one can be made. To be called before the
 * host's view becomes read-only.
 */
export function takeProc(plan: PlanWriter, spec: SandboxSpec): Slot | null {
	return mayMountProc(spec) ? null : plan.tree('/proc', '', 'rec');
}

/** The /proc of the command's own process namespace. */
export function mountProc(plan: PlanWriter, spec: SandboxSpec, hostProc: Slot | null): void {
	if (hostProc !== null) {
		const reason = "the outer sandbox's processes: covered parts of its /proc allow no new one";
		plan.attach(hostProc, { path: '/proc', source: '/proc', kind: 'bind', reason });
		return;
	}
	plan.fresh('/proc', 'proc', '', 'nosuid,nodev,noexec', 'own processes only');
	if (!spec.user.privileged) return;
	for (const path of spec.host.procDirectories) {
		const mount = {
			path,
			source: path,
			kind: 'read-only bind',
			reason: 'the machine cannot be changed through it',
		} as const;
		plan.bindFrom(path, 'ro,nosuid,nodev,noexec', 'one', mount);
	}
	for (const path of spec.host.procFiles) {
		plan.bindFrom('/dev/null', 'ro', 'one', {
			path,
			source: '/dev/null',
			kind: 'mask',
			reason: 'tells of the whole machine',
		});
	}
}

/** Mount points made for the purpose, which hide nothing (fs/proc: proc_create_mount_point). */
const EMPTY_BY_NATURE = new Set(['/proc/sys/fs/binfmt_misc', '/proc/fs/nfsd']);

function mayMountProc({ user, host }: SandboxSpec): boolean {
	return (
		user.privileged ||
		!host.mountPoints.some((point) => point !== '/proc' && isWithin(point, '/proc') && !EMPTY_BY_NATURE.has(point))
	);
}

import { expect, test } from 'vitest';
import { ERRNO, type ErrnoCode } from '../base/errno.ts';
import { parseMountInfo } from '../host/mount-info.ts';
import type { KernelFacts } from './kernel-facts.ts';
import { reasonOf, storeReason } from './launch-reason.ts';

const KERNEL: KernelFacts = {
	release: '6.18.44',
	maxUserNamespaces: 15000,
	appArmorRestricts: false,
	cloneRestricted: false,
	filtered: false,
	filesystems: ['overlay'],
};

const OVERLAY = ['overlay', '0', 'userxattr', '/store/upper', '/store/work', 'nosuid', '1', '/home/me/project'];
const mount = (point: string, type = 'ext4', options = 'rw') => `1 0 8:1 / ${point} ${options} - ${type} /dev/x rw\n`;
const mounts = (...lines: string[]) => parseMountInfo(Buffer.from(mount('/') + lines.join('')));

function reason(
	operation: string,
	code: ErrnoCode,
	{
		text = '',
		kernelText = null as string | null,
		kernel = {},
		table = mounts(),
		map = '0 1000 1' as string | null,
	} = {},
) {
	const operations = [map === null ? ['private'] : ['map', map, map], OVERLAY, ['chdir', '/home/me/project']];
	const index = operations.findIndex(([name]) => name === operation);
	return reasonOf(
		{ index, errno: ERRNO[code][0], operation, text, kernelText },
		{ plan: { operations, mounts: [] }, kernel: { ...KERNEL, ...kernel }, mounts: table },
	);
}

test('namespaces that cannot be had, each with what to do', () => {
	expect(reason('unshare', 'ENOSPC', { kernel: { maxUserNamespaces: 0 } })).toEqual({
		code: 'no-user-namespaces',
		why: 'user namespaces are switched off (user.max_user_namespaces = 0)',
		remedy: 'as root: sysctl user.max_user_namespaces=15000',
	});
	expect(reason('unshare', 'ENOSPC').why).toMatch('nested too deep');
	expect(reason('unshare', 'EINVAL').why).toBe('this kernel has no user namespaces');
	for (const step of ['unshare', 'map', 'private']) {
		expect(reason(step, 'EPERM', { kernel: { appArmorRestricts: true } }).why).toMatch('AppArmor restricts');
	}
	expect(reason('unshare', 'EPERM', { kernel: { cloneRestricted: true } }).remedy).toMatch(
		'unprivileged_userns_clone=1',
	);
	expect(reason('unshare', 'EPERM', { kernel: { filtered: true } }).why).toMatch('container');
	expect(reason('map', 'EPERM', { map: '0 0 1' }).why).toMatch('root without CAP_SYS_ADMIN and CAP_SETFCAP');
	expect(reason('exec', 'ENOSPC', { text: 'clone', kernel: { maxUserNamespaces: 1 } }).code).toBe('no-user-namespaces');
});

test('an overlay that the kernel refuses', () => {
	const below = mounts(mount('/home/me/project/volume'));
	expect(reason('overlay', 'EINVAL', { text: 'create', table: below })).toMatchObject({
		code: 'mount-below-base',
		why: expect.stringContaining('something is mounted at /home/me/project/volume'),
	});
	expect(reason('overlay', 'EINVAL', { text: 'create', table: below, map: null }).code).toBe('launch-failed');
	expect(reason('overlay', 'EINVAL', { text: 'create', table: mounts(mount('/store', 'overlay')) }).code).toBe(
		'store-unfit',
	);
	expect(reason('overlay', 'ENODEV').code).toBe('no-overlayfs');
	expect(reason('overlay', 'EPERM', { kernel: { release: '5.10.0' } }).code).toBe('old-kernel');
	expect(reason('overlay', 'EINVAL', { kernelText: 'overlay: maximum fs stacking depth exceeded' })).toMatchObject({
		code: 'nested-too-deep',
		why: expect.stringContaining('stacking depth'),
	});
	expect(reason('overlay', 'ENOENT', { text: '/home/me/project' }).why).toBe('/home/me/project is not there any more');
	expect(reason('overlay', 'ELOOP', { text: '/home/me/project' }).why).toBe(
		'/home/me/project was replaced by a symlink',
	);
});

test('a store on a filesystem that cannot hold a layer', () => {
	for (const type of ['overlay', 'nfs4', 'fuse.sshfs', '9p', 'vfat']) {
		expect(storeReason('/store/x', mounts(mount('/store', type)))?.why).toMatch(`the store lies on ${type} (/store)`);
	}
	expect(storeReason('/store/x', mounts(mount('/store', 'ext4', 'ro')))?.why).toMatch('read-only');
	for (const type of ['ext4', 'xfs', 'btrfs', 'tmpfs'])
		expect(storeReason('/store/x', mounts(mount('/store', type)))).toBeNull();
});

test('the rest of the steps', () => {
	expect(reason('lock', 'EAGAIN').code).toBe('session-locked');
	expect(reason('join', 'ESRCH').code).toBe('sandbox-ended');
	expect(reason('join', 'EACCES').code).toBe('launch-failed');
	expect(reason('cgroup', 'EACCES', { text: 'cgroup.procs' }).why).toMatch('cgroup.procs: permission denied');
	expect(reason('plan', 'EISDIR').code).toBe('directory-as-stream');
	expect(reason('spawn', 'ENOENT', { text: 'spawn /x/launch ENOENT' }).code).toBe('launcher-missing');
	expect(reason('attach', 'ENOENT', { text: '/home/me/.ssh' }).why).toBe('/home/me/.ssh is not there any more');
	expect(reason('chdir', 'ENOENT', { text: '/home/me/project' }).why).toMatch('the working directory /home/me/project');
	expect(reason('setattr', 'EBUSY').remedy).toBe('try again');
	expect(reason('fs', 'ENOSYS', { kernel: { release: '5.4.0' } }).why).toMatch('lacks the mount calls of 5.12');
	expect(reason('fs', 'EPERM', { text: 'proc' }).code).toBe('no-proc');
	expect(reason('tree', 'EIO', { text: '/x' })).toEqual({
		code: 'launch-failed',
		why: 'the sandbox could not be set up: tree /x: input/output error',
		remedy: 'run `dropcloth doctor`',
	});
});

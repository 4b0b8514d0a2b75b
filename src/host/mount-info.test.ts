import { expect, test } from 'vitest';
import { mountOf, parseMountInfo, readMounts, submountsBelow } from './mount-info.ts';

const LINES = [
	'22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=continue',
	'30 22 0:25 / /home rw,nosuid shared:2 master:1 - fuse.sshfs me@host:/a\\040b rw,user_id=0',
	'31 30 0:26 /sub\\134dir /home/a\\040b\\011c rw - tmpfs none rw',
	'32 22 0:27 / /homes ro - proc proc rw',
	'33 30 0:28 / /home ro - tmpfs cover rw,size=4k',
	'',
].join('\n');

test('fields are told apart, whatever optional ones there are, and unescaped', () => {
	const [first, second, third] = parseMountInfo(Buffer.from(LINES));
	expect(first).toEqual({
		id: 22,
		parent: 1,
		device: '254:0',
		root: '/',
		point: '/',
		options: ['rw', 'relatime'],
		type: 'ext4',
		source: '/dev/vda',
		superOptions: ['rw', 'errors=continue'],
	});
	expect(second).toMatchObject({ type: 'fuse.sshfs', source: 'me@host:/a b' });
	expect(third).toMatchObject({ root: '/sub\\dir', point: '/home/a b\tc' });
});

test('bytes that are not UTF-8 are kept', () => {
	const line = Buffer.concat([Buffer.from('1 0 0:1 / /m'), Buffer.of(0xff), Buffer.from(' rw - tmpfs none rw\n')]);
	expect(parseMountInfo(line)[0]?.point).toBe('/m\udcff');
});

test('a line that is not mountinfo is refused, not guessed at', () => {
	expect(() => parseMountInfo(Buffer.from('1 2 3\n'))).toThrow(/cannot be understood/);
});

test('a path belongs to the last mount at its nearest mount point, by whole names', () => {
	const mounts = parseMountInfo(Buffer.from(LINES));
	expect(mountOf('/home/x', mounts).id).toBe(33);
	expect(mountOf('/home/a b\tc/d', mounts).id).toBe(31);
	expect(mountOf('/homes', mounts).id).toBe(32);
	expect(mountOf('/homestead', mounts).id).toBe(22);
});

test('submounts are those below, not the path itself', () => {
	const mounts = parseMountInfo(Buffer.from(LINES));
	expect(submountsBelow('/home', mounts).map((mount) => mount.id)).toEqual([31]);
	expect(submountsBelow('/', mounts).map((mount) => mount.id)).toEqual([30, 31, 32, 33]);
});

test('the mounts of this process hold / and /proc', () => {
	expect(mountOf('/').point).toBe('/');
	expect(readMounts().some((mount) => mount.point === '/proc' && mount.type === 'proc')).toBe(true);
});

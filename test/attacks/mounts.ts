import { type Attack, python, silent } from './attack.ts';

/** Changing the mounts, or looking under them. */
export const MOUNTS: readonly Attack[] = [
	silent(
		'everything made writable again',
		'mount -o remount,rw / && echo 1; mount -o remount,bind,rw / && echo 2; mount -o remount,bind,rw /usr && echo 3; touch /etc/x && echo 4',
	),
	{
		name: 'mounts taken away',
		script:
			'for m in "$PWD" ~ ~/.ssh $RIG/home/store /tmp /run /proc /dev; do umount $m 2>/dev/null || umount -l $m 2>/dev/null || echo no; done',
		seen: 'no\n'.repeat(8),
	},
	silent(
		'the same with namespaces of its own',
		"unshare -Urm sh -c 'mount -o remount,bind,rw / && echo 1; touch /etc/x && echo 2; for m in ~ ~/.ssh ~/.netrc $RIG/home/store /dev /proc; do umount -l $m && echo $m; done; cat ~/.ssh/id'",
	),
	silent(
		'home without what lies on it',
		"mkdir -p /tmp/m; unshare -Urm sh -c 'for d in ~ / /dev $RIG; do mount --bind $d /tmp/m && echo $d; done; mount --rbind ~ /tmp/m; umount /tmp/m/.ssh && echo 1; umount -l /tmp/m/.ssh && echo 2; cat /tmp/m/.ssh/id; mount --make-rprivate /; umount -l /tmp/m/.netrc && echo 3; cat /tmp/m/.netrc'",
	),
	silent(
		'an overlay of its own over home (CVE-2021-3732)',
		"mkdir -p /tmp/o/u /tmp/o/w /tmp/o/m; unshare -Urm sh -c 'for d in ~ / $RIG /dev ~/.config; do mount -t overlay none -o lowerdir=$d,upperdir=/tmp/o/u,workdir=/tmp/o/w,userxattr /tmp/o/m && echo $d; done; find /tmp/o/m -type f | xargs cat'",
	),
	python(
		'an overlay of its own by descriptors',
		`
own_namespaces()
seen = set()
for place in (HOME, '/', RIG, '/dev', HOME + '/.config'):
    for key in ('lowerdir+', 'lowerdir'):
        fs = call(FSOPEN, 'overlay', 0)
        if not isinstance(fs, int): continue
        call(FSCONFIG, fs, 5, key, 0, os.open(place, os.O_PATH))
        call(FSCONFIG, fs, 1, key, place, 0)
        seen.add(call(FSCONFIG, fs, 6, 0, 0, 0))
print(sorted(map(str, seen)))`,
		/^\['E\w+'(, 'E\w+')*\]\n$/,
	),
	python(
		'a copy of a tree without what lies on it',
		`
trees = [HOME, '/', RIG, '/dev']
print(*(call(OPEN_TREE, AT_FDCWD, tree, 1) for tree in trees))
own_namespaces()
print(*(call(OPEN_TREE, AT_FDCWD, tree, 1) for tree in trees))
print(*(call(MOVE_MOUNT, AT_FDCWD, HOME + mask, AT_FDCWD, '/tmp', 0) for mask in ('', '/.ssh', '/.netrc')))`,
		'EPERM EPERM EPERM EPERM\nEINVAL EINVAL EINVAL EINVAL\nEINVAL EINVAL EINVAL\n',
	),
	python(
		'read-only taken from mounts by their attributes',
		`
clear_read_only = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
def clear(flags): return [call(MOUNT_SETATTR, AT_FDCWD, p, flags, clear_read_only, 32) for p in ('/', '/usr', '/dev', HOME + '/.ssh')]
print(set(clear(0)) | set(clear(0x8000)))
own_namespaces()
print(set(map(str, clear(0) + clear(0x8000))) <= {'EPERM', 'EINVAL'})`,
		"{'EPERM'}\nTrue\n",
	),
	{
		name: 'another root of its own shows nothing more',
		script:
			"mkdir -p /tmp/r; unshare -Urm sh -c 'mount --rbind / /tmp/r && cd /tmp/r && mkdir -p tmp/old && pivot_root . tmp/old 2>/dev/null; cat $HOME/.ssh/id /tmp/old$HOME/.ssh/id; umount -l /tmp/old; cat $HOME/.netrc; touch /etc/x' 2>/dev/null; chroot / true 2>/dev/null; echo end",
		seen: 'end\n',
	},
	{
		name: 'a place that is mounted moved, removed or linked',
		script: 'mv "$PWD" ../moved; rmdir ~/.ssh; mv ~/.ssh ~/x; mv ~/.config ~/y; rm -rf ~/.config; cat ~/y/gh/hosts.yml',
		seen: /busy.*busy.*busy.*busy/s,
	},
	{
		name: 'a /proc of its own with all of the machine',
		script:
			"unshare -Urmpf --mount-proc sh -c 'ls -d /proc/[0-9]* | wc -l; (echo 1 > /proc/sys/kernel/sysrq) 2>/dev/null && echo wrote' 2>/dev/null; echo end",
		seen: /^([1-4]\n)?end\n$/,
	},
	silent(
		'file systems of the machine',
		'for t in ext4 xfs btrfs vfat iso9660; do mount -t $t /dev/vda /mnt && echo $t; mount -t $t /dev/sda1 /mnt && echo $t; unshare -Urm mount -t $t /dev/vda /mnt && echo $t; done; unshare -Urm mount -t debugfs none /mnt && echo debugfs; unshare -Urm mount -t sysfs none /mnt && [ -w /mnt/kernel/uevent_helper ] && echo sysfs; losetup -f && echo loop',
	),
];

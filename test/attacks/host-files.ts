import { type Attack, python, silent } from './attack.ts';

/** Writing the host's files under one name or another. */
export const HOST_FILES: readonly Attack[] = [
	{ name: 'a file of the base', script: 'echo x > file; cat file', seen: 'x\n' },
	{ name: 'the project through /proc/self/root', script: 'echo y > /proc/self/root$PWD/file; cat file', seen: 'y\n' },
	{
		name: 'the project through a process’s working directory',
		script: 'echo z > /proc/$$/cwd/file; cat file',
		seen: 'z\n',
	},
	{ name: 'a file of the base through a hard link', script: 'ln linked two; echo x > two; cat two', seen: 'x\n' },
	{
		name: 'attributes of files of the base',
		script:
			'chmod 4777 plain; touch -d 2001-01-01 plain; setfattr -n user.x -v 1 plain; truncate -s 0 plain; echo done',
		seen: 'done\n',
	},
	python(
		'a file of the base by a mapping, a hole and a descriptor from before',
		`
import mmap
reader = os.open('mapped', os.O_RDONLY)
with open('mapped', 'r+b') as f:
    with mmap.mmap(f.fileno(), 0) as m: m[:4] = b'away'
libc.fallocate(os.open('holed', os.O_RDWR), 3, ctypes.c_long(0), ctypes.c_long(4))
print(attempt(lambda: os.write(os.open(f'/proc/self/fd/{reader}', os.O_WRONLY), b'more') and 'written'))`,
		/^(written|EROFS|ETXTBSY)\n$/,
	),
	{
		name: 'all of the project, .git too',
		script: 'mkdir -p sub; rm -rf sub .git; ls -A sub .git',
		seen: /cannot access.*\n.*cannot access/,
	},
	{ name: 'a link of the project that leads out', script: 'echo x > leads-out', seen: /Read-only file system/ },
	{
		name: 'a link of its own that leads out, and a name with ..',
		script: 'ln -s $RIG/outside mine; echo x > mine; echo x > ../../outside; echo x > sub/../../../outside',
		seen: /Read-only.*\n.*(Read-only|cannot create).*\n.*(Read-only|cannot create)/,
	},
	{
		name: 'a hard link to a file outside',
		script: 'ln /etc/passwd hard-1; ln $RIG/outside hard-2',
		seen: /cross-device.*cross-device/s,
	},
	silent(
		'a file outside made of one without a name',
		'python3 -c "import os; os.open(os.environ[\'RIG\'], os.O_TMPFILE | os.O_WRONLY); print(1)"',
	),
	silent(
		'system directories',
		'for d in / /etc /usr/bin /usr/local/bin /var/lib /var/log /opt /root /boot /srv $RIG; do touch $d/x && echo $d; mkdir $d/y && echo $d; rm -rf $d/y; done',
	),
	silent(
		'files outside that are its own',
		'echo x > $RIG/outside && echo 1; chmod 777 $RIG/outside && echo 2; touch -d 2001-01-01 $RIG/outside && echo 3; setfattr -n user.x -v 1 $RIG/outside && echo 4; rm -f $RIG/outside && echo 5; mv $RIG/outside $RIG/moved && echo 6; mv file $RIG/outside && echo 7; truncate -s 0 $RIG/outside && echo 8; chattr +i $RIG/outside && echo 9',
	),
	silent(
		'a file outside by a descriptor that reads it',
		'exec 3< $RIG/outside; echo x > /proc/self/fd/3 && echo 1; echo x > /dev/fd/3 && echo 2; chmod 777 /proc/self/fd/3 && echo 3',
	),
	{ name: 'shell start-up files of the host', script: 'echo evil >> ~/.bashrc; tail -1 ~/.bashrc', seen: 'evil\n' },
	{
		name: 'home swapped for a link',
		script: 'mkdir ~/.tools; mv ~/.tools ~/.was; ln -s $RIG ~/.tools; echo x > ~/.tools/outside',
		seen: /Read-only/,
	},
	{
		name: 'the layer by forged attributes of the overlay',
		script:
			'mkdir -p forged; setfattr -n user.overlay.opaque -v y forged; setfattr -n user.overlay.redirect -v /../../outside forged; setfattr -n trusted.overlay.opaque -v y forged; mknod white c 0 0; ls -A forged; echo end',
		seen: /end\n$/,
	},
	silent(
		'a set-uid file that others of the host could run',
		'cp /bin/id set-uid; chmod 6777 set-uid; chmod 777 . ~; (umask 0; cp /bin/id ~/set-uid; chmod 6777 ~/set-uid)',
	),
	{
		name: 'the core that the kernel writes, and where it writes it',
		script: 'ulimit -c unlimited; cd $RIG; sh -c "kill -SEGV \\$\\$"; ls core* 2>/dev/null; echo end',
		seen: /end\n$/,
	},
];

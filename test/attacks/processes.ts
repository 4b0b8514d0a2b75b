import { type Attack, python, silent } from './attack.ts';

/** Reaching other processes, the first one inside among them. */
export const PROCESSES: readonly Attack[] = [
	{
		name: 'a process of the host',
		script: 'kill -0 $OUTSIDE; ls -d /proc/$OUTSIDE; nsenter -t $OUTSIDE -m true; gdb -p $OUTSIDE 2>/dev/null; true',
		seen: /No such process.*No such file.*No such file/s,
	},
	silent(
		'the host’s namespaces',
		'for p in /proc/[0-9]*; do for n in mnt pid ipc uts user; do case " $HOST_NAMESPACES " in *" $(readlink $p/ns/$n) "*) echo $p $n;; esac; done; done',
	),
	{
		name: 'PID 1 killed or stopped',
		script:
			'for s in KILL STOP TERM INT HUP SEGV USR1 TSTP; do kill -$s 1; done 2>/dev/null; grep -c . /proc/self/stat',
		seen: '1\n',
	},
	silent(
		'PID 1 looked into',
		`for f in environ maps mem auxv stack syscall pagemap; do cat /proc/1/$f >/tmp/looked && [ -s /tmp/looked ] && echo $f; done
		ls /proc/1/root/; ls /proc/1/cwd/; ls /proc/1/map_files/; readlink /proc/1/exe /proc/1/root /proc/1/cwd
		for f in /proc/1/fd/*; do cat $f && echo $f; echo x > $f && echo $f; done
		for n in mnt pid user ipc uts net; do nsenter -t 1 --$n=/proc/1/ns/$n true && echo $n; done
		nsenter -t 1 -U -m true && echo in; echo x > /proc/1/comm && echo comm`,
	),
	python(
		'PID 1’s descriptors, and processes by pidfd',
		`
one = call(PIDFD_OPEN, 1, 0)
print(*{call(PIDFD_GETFD, one, fd, 0) for fd in range(8)})
print(call(PIDFD_OPEN, int(os.environ['OUTSIDE']), 0))
print(attempt(lambda: libc.ptrace(16, 1, 0, 0)))`,
		/^EPERM\nESRCH\n-1\n$/,
	),
	{ name: 'descriptors of the caller', script: 'ls /proc/self/fd | tr "\\n" " "', seen: /^0 1 2 (3 )?$/ },
	silent(
		'the launcher’s program and channels',
		'for p in /proc/[0-9]*; do ls -l $p/fd | grep -E "control|report|plan|session.db|lock"; done; for p in /proc/[0-9]*; do readlink $p/exe; done | grep launch-',
	),
	{
		name: 'priorities and limits of the outside',
		script:
			'renice -n -20 -p $$ 2>/dev/null; prlimit --pid $OUTSIDE --nofile=1 2>/dev/null; renice -n 19 -p $OUTSIDE 2>/dev/null; echo end',
		seen: /end\n$/,
	},
	silent(
		'memory that is shared across the host',
		'ipcs -m | grep -E "^0x"; ipcs -q | grep -E "^0x"; find /dev/shm /dev/mqueue -mindepth 1; python3 -c "import ctypes; print(1) if ctypes.CDLL(None).shmget(0xd10c, 1, 0) >= 0 else None"',
	),
	{
		name: 'the host’s name',
		script: 'hostname attacked 2>/dev/null; echo x > /proc/sys/kernel/hostname; echo end',
		seen: /end\n$/,
	},
];

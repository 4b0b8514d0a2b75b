import { type Attack, python, silent } from './attack.ts';

/** Devices, the kernel's interfaces, and rights. */
export const MACHINE: readonly Attack[] = [
	{
		name: 'devices',
		script:
			'ls /dev/vd* /dev/sd* /dev/nvme* /dev/mem /dev/kmsg /dev/fuse /dev/loop* 2>/dev/null; mknod /tmp/d b 8 0; mknod d c 1 1; touch /dev/x; chmod 777 /dev/null 2>/dev/null; rm -f /dev/null; echo end',
		seen: /^mknod.*not permitted\nmknod.*not permitted\ntouch.*Read-only.*\n.*(busy|Read-only).*\nend\n$/,
	},
	silent(
		'a device that lies elsewhere, and one in the project',
		'for d in $RIG/device device ~/device; do [ "$(head -c 1 $d | wc -c)" = 1 ] && echo $d; echo x > $d && echo $d; done',
	),
	// left out: settings of the sandbox's own namespaces, and what asks for a capability when it is written
	silent(
		'settings of the kernel',
		`for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger; do (echo 1 > $f) && echo $f; [ -w $f ] && echo $f; done
		find /proc -path '/proc/[0-9]*' -prune -o -type f -perm /222 -writable -print | grep -vE '^/proc/(keys|timer_list|mtrr|pressure/|sys/(fs/mqueue/|user/|kernel/(msg|shm|sem|auto_msgmni|ns_last_pid|pid_max)))'`,
	),
	silent(
		'/sys and control groups',
		'find /sys -type f -writable | head -3; touch /sys/fs/cgroup/x && echo 1; mkdir /sys/fs/cgroup/x && echo 2',
	),
	silent(
		'the kernel’s log, modules and tracing',
		'dmesg; cat /proc/kmsg; modprobe loop && echo 1; ls /sys/kernel/debug/* /sys/kernel/tracing/trace && echo 2; bpftool prog && echo 3',
	),
	silent(
		'rights by set-uid programs',
		'for c in "sudo -n id -u" "su -c id" "pkexec id -u" "newgrp root" "mount /mnt" "fusermount3 -u /mnt" "crontab -l"; do [ "$(id -u)" = 0 ] || timeout 5 $c </dev/null && [ "$(id -u)" != 0 ] && echo "$c"; done',
	),
	{
		name: 'rights by a set-uid program of its own',
		script:
			'cp /bin/id suid; chmod 4755 suid; [ "$(./suid -u)" = "$(id -u)" ] && grep NoNewPrivs /proc/self/status; mount | grep -c "on $PWD .*nosuid"',
		seen: 'NoNewPrivs:\t1\n1\n',
	},
	{
		name: 'capabilities',
		script: `grep CapEff /proc/self/status; unshare -Ur grep -c 'CapEff:.*3fffffffff' /proc/self/status`,
		seen: /^CapEff:\t0000000(000000000|0800004fb)\n\d\n$/,
	},
	silent(
		'capabilities of a file of its own',
		'cp /bin/cat cat; setcap cap_dac_read_search+ep cat && [ "$(id -u)" != 0 ] && ./cat /etc/shadow',
	),
	python(
		'namespaces of its own give no rights outside',
		`
own_namespaces()
print(attempt(lambda: os.setuid(0)), attempt(lambda: open('/etc/x', 'w')), attempt(lambda: os.chown('/etc/passwd', 0, 0)))
print(attempt(lambda: open('/proc/sys/kernel/core_pattern', 'w')), libc.sethostname(b'x', 1), libc.reboot(0))`,
		/^(None|EPERM|EINVAL) EROFS (EROFS|EPERM|EINVAL)\n(EROFS|EACCES) -1 -1\n$/,
	),
	silent('the clock', 'date -s 2001-01-01 >/dev/null && echo 1; hwclock -w && echo 2; adjtimex -f 1 && echo 3'),
];

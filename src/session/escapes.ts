/** A way out of the sandbox that is tried from inside, with what every system has. */
export interface Escape {
	/** Name of the finding. */
	readonly check: string;
	/** What holds when it fails, as it should. */
	readonly holds: string;
	/**
	 * For a subshell of /bin/sh. Prints a line `reached WHAT` for each thing that it should not have got, never its content;
	 * or `absent PROGRAM` when it can't be tried. Its arguments are the masked places; of the environment it may use HOME,
	 * STORE (masked, and not empty on the host), NAME (of files that it makes, and of an abstract socket of the host), OUTSIDE
	 * (directories of the host), NAMESPACES (of the host), SCRATCH (a directory for its own use) and NODE.
	 */
	readonly script: string;
	/** False where the program is used although the way is open: the kernel is too old to close it. */
	readonly needed: boolean;
}

const needs = (program: string) => `command -v ${program} >/dev/null || { echo 'absent ${program}'; exit; }`;

/** What doctor tries. Whatever one of them breaks may only be of the sandbox itself: they run in one, each after the other. */
export const ESCAPES: readonly Escape[] = [
	{
		// whether one of these names has come up is looked for on the host
		check: 'escape-host-files',
		holds: 'what is written inside does not reach the host',
		script: `
			echo inside > file; ln file second; echo inside > second; : > "./$NAME"
			while read -r directory; do : > "$directory/$NAME"; done <<-END
				$OUTSIDE
			END`,
		needed: true,
	},
	{
		check: 'escape-mounts',
		holds: 'mounts can be neither removed nor made writable',
		script: `
			${needs('mount')}
			mount -o remount,bind,rw / && echo 'reached a writable /' || mount -o remount,rw / && echo 'reached a writable /'
			for place in "$STORE" "$HOME"; do umount -l "$place" && echo "reached what lies under $place"; done`,
		needed: true,
	},
	{
		check: 'escape-own-namespaces',
		holds: 'mounts of its own uncover nothing',
		script: `
			${needs('unshare')}
			mkdir "$SCRATCH/all"
			unshare -Urm sh -c '
				umount -l "$STORE" && echo "reached the store"
				mount -o remount,bind,rw / && echo "reached a writable /"
				mount --bind / "$SCRATCH/all" || mount --rbind / "$SCRATCH/all"
				umount -l "$SCRATCH/all$STORE"
				ls -A "$SCRATCH/all$STORE" | grep -q . && echo "reached the store"'`,
		needed: true,
	},
	{
		check: 'escape-own-overlay',
		holds: 'an overlay of its own uncovers nothing (CVE-2021-3732)',
		script: `
			${needs('unshare')}
			mkdir "$SCRATCH/upper" "$SCRATCH/work" "$SCRATCH/merged"
			unshare -Urm sh -c '
				cd "\${STORE%/*}" && mount -t overlay none -o "lowerdir=.,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work,userxattr" "$SCRATCH/merged"
				ls -A "$SCRATCH/merged/\${STORE##*/}" | grep -q . && echo "reached the store"'`,
		needed: true,
	},
	{
		check: 'escape-credentials',
		holds: 'masked places are empty',
		script: `
			for place; do
				if [ -d "$place" ]; then ls -A "$place" | grep -q . && echo "reached $place"
				else [ -s "$place" ] && echo "reached $place"
				fi
			done`,
		needed: true,
	},
	{
		check: 'escape-processes',
		holds: 'processes of the host are not there',
		script: `
			for kind in mnt pid ipc uts; do
				case " $NAMESPACES " in *" $(readlink "/proc/self/ns/$kind") "*) echo "reached the host's $kind namespace" ;; esac
			done`,
		needed: true,
	},
	{
		check: 'escape-first-process',
		holds: 'the first process can be neither looked into nor ended',
		script: `
			kill -9 1; kill -STOP 1
			for file in environ maps mem; do cat "/proc/1/$file" >/dev/null && echo "reached /proc/1/$file"; done
			ls /proc/1/root/ /proc/1/cwd/ >/dev/null && echo 'reached its view of the files'
			nsenter -t 1 -m true && echo 'reached its mounts'`,
		needed: true,
	},
	{
		check: 'escape-devices',
		holds: 'no disk and no memory of the machine is there',
		script: `
			for device in /dev/sd* /dev/vd* /dev/nvme* /dev/dm-* /dev/loop* /dev/mem /dev/kmem /dev/kmsg /dev/port /dev/fuse; do
				[ -e "$device" ] && echo "reached $device"
			done
			mknod "$SCRATCH/device" b 8 0 && echo 'reached a device that it made'
			: > /dev/.none && echo 'reached what masks files'`,
		needed: true,
	},
	{
		check: 'escape-kernel-settings',
		holds: 'settings of the kernel cannot be changed',
		script: `
			for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches /proc/sysrq-trigger /sys/kernel/uevent_helper; do
				[ -w "$file" ] && echo "reached $file"
			done
			: > "/sys/fs/cgroup/$NAME" && echo 'reached the control groups'
			dmesg >/dev/null && echo "reached the kernel's log"`,
		needed: true,
	},
	{
		// 0x3b9000: CAP_NET_ADMIN, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_PACCT, SYS_ADMIN (linux/capability.h)
		check: 'escape-privileges',
		holds: 'privileges cannot be gained, and system calls are filtered',
		script: `
			while read -r name value; do
				case $name:$value in
					NoNewPrivs:*:0) echo 'reached set-uid programs' ;;
					Seccomp:*:0) echo 'reached every system call' ;;
					CapEff:* | CapBnd:*) [ $((0x$value & 0x3b9000)) -eq 0 ] || echo "reached capabilities $value" ;;
				esac
			done < /proc/self/status`,
		needed: true,
	},
	{
		check: 'escape-sockets',
		holds: 'sockets of agents, displays and daemons are not there, nor what leads to them',
		script: `
			for socket in /run/docker.sock /var/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/dbus/system_bus_socket /run/systemd/private /run/user/*/* /tmp/.X11-unix/* /tmp/ssh-*/*; do
				[ -S "$socket" ] && echo "reached $socket"
			done
			for name in SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY GPG_AGENT_INFO; do
				eval "[ -z \\"\\\${$name-}\\" ]" || echo "reached $name"
			done`,
		needed: true,
	},
	{
		check: 'escape-abstract-sockets',
		holds: 'abstract sockets of the host cannot be connected to',
		script: `
			[ -x "$NODE" ] || { echo 'absent node'; exit; }
			"$NODE" -e '
				const { argv } = require("node:process"); // without an answer to an error it ends with one
				require("node:net").connect("\\0" + argv[1]).on("connect", function () { this.destroy(); });' "$NAME" &&
				echo 'reached an abstract socket'`,
		needed: false,
	},
];

import { type Attack, silent } from './attack.ts';

const connect = (address: string) =>
	`python3 -c 'import errno, os, socket
try: socket.socket(socket.AF_UNIX).connect(${address}); print("connected")
except OSError as e: print(errno.errorcode[e.errno])'`;
const refused = (name: string, address: string, seen: Attack['seen']): Attack => ({
	name,
	script: connect(address),
	seen,
});

const NOBODY = /^(ECONNREFUSED|EACCES)\n$/;

/** Talking to programs outside. */
export const SOCKETS: readonly Attack[] = [
	silent(
		'variables that lead to agents and displays',
		'env | grep -E "^(SSH_AUTH_SOCK|SSH_AGENT_PID|DBUS_|DISPLAY|WAYLAND_|XAUTHORITY|GPG_|DROPCLOTH_KEY)"',
	),
	silent(
		'sockets of daemons, buses, displays and agents',
		`for s in /run/docker.sock /var/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/dbus/system_bus_socket /run/systemd/private /run/systemd/notify /run/user/*/bus /run/user/*/gnupg/S.gpg-agent /run/user/*/keyring/ssh /tmp/.X11-unix/* /tmp/ssh-*/* /tmp/tmux-*/* /run/screen/* /var/lib/lxd/unix.socket /var/lib/incus/unix.socket /dev/log; do [ -S $s ] && echo $s; done
		{ find / -xdev -path "$(dirname $RIG)" -prune -o -type s -print; find $RIG -type s; } | grep -vE "^($HOME/|/run/dropcloth.sock)" | while read -r s; do [ -S "$s" ] && echo "$s"; done`,
	),
	refused('a socket in home', 'os.environ["HOME"] + "/home.sock"', NOBODY),
	refused('a socket in the project', '"project.sock"', NOBODY),
	refused('a socket in a private place', 'os.environ["MARKERS"] + ".sock"', 'ENOENT\n'),
	refused('a socket elsewhere on the host', 'os.environ["RIG"] + "/elsewhere.sock"', NOBODY),
	refused('a socket elsewhere through a link', 'os.environ["RIG"] + "/link/elsewhere.sock"', NOBODY),
	refused('a socket elsewhere that --mask hides', 'os.environ["RIG"] + "/masked.sock"', NOBODY),
	refused('an abstract socket', '"\\0" + os.environ["ABSTRACT"]', /^(EPERM|ECONNREFUSED)\n$/),
	{
		name: 'the machine’s host by a vsock',
		script: `python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)' 2>&1 | tail -1`,
		seen: /not supported/,
	},
	silent(
		'the kernel’s messages and the machine’s network',
		'python3 -c "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print(1)"; python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print(2)"; ip link set lo down && echo 3; ip addr add 192.0.2.1/32 dev lo && echo 4; iptables -L && echo 5; unshare -Ur ip link set lo down && echo 6',
	),
];

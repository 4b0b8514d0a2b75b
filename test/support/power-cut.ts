import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
	copyFileSync,
	constants as fsConstants,
	mkdirSync,
	mkdtempSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';

/**
 * A machine whose power can be cut: a guest of User-Mode-Linux with an ext4 disk of its own, on which project, home and
 * store lie, and the host's files as its root, read-only. Killed, it loses what it had not written to the disk, as a
 * machine does.
 */
export interface Machine extends Disposable {
	/** A directory on the host that the guest sees too. */
	readonly place: string;
	/** Runs a shell script on the host with the disk mounted, to its end, which must be 0. Its output. */
	here(script: string): string;
	/** Starts a guest on the disk with a shell script. */
	boot(script: string): Guest;
	/** Checks the disk as a start after a power cut does. */
	check(): void;
	/** The disk as it is now, to come back to. */
	keep(): Disk;
}

/** A copy of a disk. */
export interface Disk {
	/** Puts it in the place of the machine's. */
	restore(): void;
}

export interface Guest {
	/** Resolves when the console shows a match; rejects when the guest ends without. */
	said(pattern: RegExp): Promise<void>;
	/** Cuts the power. Resolves when nothing of the guest is there any more. */
	cut(): Promise<void>;
	/** What the console has shown. */
	console(): string;
}

/** Where the disk is mounted, in the guest and by {@link Machine.here}. */
export const DISK = '/mnt';

/** What keeps this machine from doing it; null when nothing does. */
export function whyNoPowerCut(): string | null {
	if (userInfo().uid !== 0) return 'mounting the disk afterwards needs root';
	const missing = ['linux.uml', 'busybox', 'mkfs.ext4', 'e2fsck'].filter(
		(name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
	);
	if (missing.length > 0) return `${missing.join(', ')} missing (Debian: user-mode-linux busybox-static e2fsprogs)`;
	const mounts = spawnSync('unshare', ['-m', 'sh', '-c', `mount -t tmpfs none ${DISK} && test -e /dev/loop-control`]);
	return mounts.status === 0 ? null : 'nothing can be mounted here';
}

/** A new machine with an empty project, home and store. */
export function machine(): Machine {
	mkdirSync(PLACES, { recursive: true });
	const place = mkdtempSync(join(PLACES, 'power-'));
	const image = join(place, 'disk');
	writeFileSync(image, '');
	truncateSync(image, DISK_BYTES);
	execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', '-J', 'size=8', image]);
	const guests = new Set<GuestProcess>();
	let kept = 0;
	const here = (script: string) => hereOn(image, script);
	here('mkdir -p project home');
	return {
		place,
		here,
		boot(script) {
			const guest = new GuestProcess(place, image, script);
			guests.add(guest);
			return guest;
		},
		check: () => checkDisk(image),
		keep() {
			const copy = join(place, `kept-${++kept}`);
			copyFileSync(image, copy, fsConstants.COPYFILE_FICLONE);
			return { restore: () => copyFileSync(copy, image, fsConstants.COPYFILE_FICLONE) };
		},
		[Symbol.dispose]() {
			for (const guest of guests) guest.kill();
			rmSync(place, { recursive: true, force: true });
		},
	};
}

/** Not /tmp, which a sandbox hides. */
const PLACES = '/var/lib/dropcloth-test';
const DISK_BYTES = 192 * 1024 * 1024;

/** What every script begins with, on the host and in the guest. */
function preamble(): string {
	return [
		'set -eu',
		`export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=${DISK}/home DROPCLOTH_HOME=${DISK}/home/store`,
		`dropcloth() { '${process.execPath}' '${inject('program')}' "$@"; }`,
	].join('\n');
}

/** In a mount namespace of its own. Unmounted before it ends, so that the image holds everything then. */
function hereOn(image: string, script: string): string {
	const text = `${preamble()}
mount -o loop '${image}' ${DISK}
trap 'cd /; umount ${DISK}' EXIT
cd ${DISK}; [ ! -d project ] || cd project
${script}
`;
	const { status, stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', text], { encoding: 'utf8' });
	if (status !== 0) throw new Error(`ended with ${status}: ${script}\n${stdout}${stderr}`);
	return stdout;
}

/** e2fsck(8): 0 is clean, 1 means that what a power cut leaves was put right. */
function checkDisk(image: string): void {
	const { status, stdout } = spawnSync('e2fsck', ['-fy', image], { encoding: 'utf8' });
	if (status !== 0 && status !== 1) throw new Error(`the file system is damaged (${status}): ${stdout}`);
}

class GuestProcess implements Guest {
	readonly #process: ChildProcess;
	readonly #closed: Promise<void>;
	#console = '';

	constructor(place: string, image: string, script: string) {
		const init = join(place, 'init');
		writeFileSync(init, initScript(script), { mode: 0o755 });
		const words = ['rootfstype=hostfs', 'rootflags=/', 'ro', 'mem=384M', `init=${init}`, `ubda=${image}`];
		const consoles = ['con=null', 'con0=null,fd:1', 'quiet'];
		this.#process = spawn('linux.uml', [...words, ...consoles], {
			detached: true,
			stdio: ['ignore', 'pipe', 'ignore'],
			env: { PATH: '/usr/bin:/bin', HOME: place, TMPDIR: place },
		});
		this.#process.stdout?.setEncoding('latin1').on('data', (text: string) => {
			this.#console += text;
		});
		this.#closed = new Promise((resolve) => this.#process.once('close', () => resolve()));
	}

	console(): string {
		return this.#console;
	}

	said(pattern: RegExp): Promise<void> {
		return new Promise((resolve, reject) => {
			const look = () => {
				if (pattern.test(this.#console)) resolve();
			};
			this.#process.stdout?.on('data', look);
			look();
			void this.#closed.then(() => reject(new Error(`the guest ended without saying ${pattern}: ${this.#console}`)));
		});
	}

	async cut(): Promise<void> {
		this.kill();
		await this.#closed;
	}

	/** Every process of the guest is in its group. */
	kill(): void {
		if (this.#process.pid === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null) return;
		process.kill(-this.#process.pid, 'SIGKILL');
	}
}

/** Nothing is written back by the clock, neither pages nor the journal: only what was synced is on the disk. */
function initScript(script: string): string {
	return `#!/bin/sh
${preamble()}
mount -t proc proc /proc; mount -t sysfs sysfs /sys
busybox insmod /usr/lib/uml/modules/$(uname -r)/kernel/fs/overlayfs/overlay.ko
echo 0 > /proc/sys/vm/dirty_writeback_centisecs
mount -t ext4 -o commit=300 /dev/ubda ${DISK}
cd ${DISK}/project
mark() { echo "[$1]"; }
set +e
(
set -e
${script}
)
mark "script ended with $?"
sleep 1000
`;
}

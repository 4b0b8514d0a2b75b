import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Attack } from '../attacks/attack.ts';
import type { Account, Ran } from './accounts.ts';
import { type SessionRig, sessionRig } from './session-rig.ts';
import { statLines } from './stat-lines.ts';
import { treeLines } from './tree-hash.ts';

/** What of the machine is compared beside the rig's own trees; nobody else changes it while tests run. */
const SYSTEM = ['/etc', '/usr/local', '/opt', '/srv', '/boot', '/var/spool'];

/** A host with something to lose: a home with secrets, a project, another session, sockets, a device. */
export class AttackRig implements Disposable {
	readonly rig: SessionRig;
	/** Files of the host in places that are private to a run begin so. */
	readonly markers: string;
	readonly abstract: string;
	readonly #servers: Server[] = [];

	private constructor(account: Account) {
		this.rig = sessionRig(account, 'home/attacked');
		const name = this.rig.place.slice(this.rig.place.lastIndexOf('/') + 1);
		this.markers = `/tmp/dropcloth-attack-${name}`;
		this.abstract = `dropcloth-attack-${name}`;
	}

	static async make(account: Account): Promise<AttackRig> {
		const attacked = new AttackRig(account);
		const { rig, markers } = attacked;
		for (const name of ['file', 'linked', 'plain', 'mapped', 'holed', 'sub/inner', '.git/HEAD'])
			attacked.#write(join(rig.project, name), 'base\n');
		for (const name of ['.ssh/id', '.netrc', '.config/gh/hosts.yml', '.aws/credentials', '.docker/config.json'])
			attacked.#write(join(rig.place, 'home', name), 'SECRET\n');
		attacked.#write(join(rig.place, 'home/.bashrc'), 'rc\n');
		attacked.#write(join(rig.place, 'outside'), 'host\n');
		for (const name of ['other', 'attacks']) mkdirSync(join(rig.place, name));
		attacked.#write(join(rig.place, 'home/.local/share/dropcloth/sessions/s/session.db'), 'SECRET\n');
		symlinkSync('../../outside', join(rig.project, 'leads-out'));
		symlinkSync('.', join(rig.place, 'link'));
		if (userInfo().uid === 0) {
			for (const place of [rig.place, join(rig.place, 'home'), rig.project])
				execFileSync('mknod', ['-m', '666', join(place, 'device'), 'c', '1', '5']);
		}
		mkdirSync(markers);
		writeFileSync(join(markers, 'SECRET'), 'SECRET\n');
		account.own(markers);
		const { place, project } = rig;
		const paths = [
			`${place}/home/home.sock`,
			`${project}/project.sock`,
			`${place}/elsewhere.sock`,
			`${place}/masked.sock`,
		];
		for (const path of [...paths, `${markers}.sock`, `\0${attacked.abstract}`]) await attacked.#listen(path);
		account.own(place);
		const other = rig.cli.run(['quick', join(place, 'other'), '--', 'sh', '-c', 'echo SECRET > f']);
		if (other.code !== 0) throw new Error(other.stderr);
		return attacked;
	}

	/** Runs the attacks one after the other in one run of the built program; what each printed. */
	run(
		attacks: readonly Attack[],
		flags: readonly string[] = [],
	): { readonly printed: Map<string, string>; readonly ran: Ran } {
		const { place, cli } = this.rig;
		const scripts = join(place, 'attacks');
		attacks.forEach(({ script }, index) => {
			writeFileSync(join(scripts, String(index)), script);
		});
		const each = 'for n in $(seq 0 $1); do printf "\\0%s\\0" $n; timeout 30 sh $RIG/attacks/$n 2>&1 < /dev/null; done';
		const command = ['sh', '-c', each, 'sh', String(attacks.length - 1)];
		const args = ['run', '--session', 'attacked', '--base', this.rig.project, ...flags, '--', ...command];
		const ran = cli.run(args, { env: this.environment(), timeoutMs: 120_000 });
		const parts = ran.stdout.split('\0');
		const printed = attacks.map(({ name }, index) => [name, parts[2 + 2 * index] ?? `nothing: ${ran.stderr}`] as const);
		return { printed: new Map(printed), ran };
	}

	/** The caller's environment, with what an agent would like to find in it. */
	environment(): Record<string, string> {
		return {
			RIG: this.rig.place,
			OUTSIDE: String(process.pid),
			MARKERS: this.markers,
			ABSTRACT: this.abstract,
			NODE: process.execPath,
			PROGRAM: this.rig.cli.program,
			INSTALLED: join(this.rig.cli.program, '../..'),
			HOST_NAMESPACES: ['mnt', 'pid', 'ipc', 'uts', 'user']
				.map((kind) => readlinkSync(`/proc/self/ns/${kind}`))
				.join(' '),
			SSH_AUTH_SOCK: '/run/x',
			DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/x',
			DISPLAY: ':0',
			XAUTHORITY: '/root/.Xauthority',
			GPG_TTY: '/dev/pts/0',
			DROPCLOTH_KEY: 'k',
		};
	}

	/** Everything that must be after the attacks as it was before: by the path, so that a difference names it. */
	host(): string[] {
		const { place, cli } = this.rig;
		const { storePath } = cli;
		const outside = treeLines(place, { except: [storePath, join(place, 'attacks')] });
		const traces = statLines([place], new Set([storePath, join(place, 'attacks'), place]));
		const others = statLines([join(storePath, 'sessions/other')]);
		return [...outside, ...traces, ...others, ...statLines([...SYSTEM, this.markers]), ...kernelSettings()];
	}

	/** Processes that were started by the attacks and still run, by their command lines. */
	leftProcesses(): string[] {
		return readdirSync('/proc')
			.filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`MARKERS=${this.markers}\0`))
			.map((name) => readFileSync(`/proc/${name}/cmdline`, 'utf8'));
	}

	[Symbol.dispose](): void {
		for (const server of this.#servers) server.close();
		rmSync(this.markers, { recursive: true, force: true });
		this.rig[Symbol.dispose]();
	}

	#write(path: string, content: string): void {
		mkdirSync(join(path, '..'), { recursive: true });
		writeFileSync(path, content);
	}

	#listen(path: string): Promise<void> {
		const server = createServer((socket) => socket.destroy());
		this.#servers.push(server);
		return new Promise((resolve) => server.listen(path, resolve));
	}
}

function kernelSettings(): string[] {
	const names = ['kernel/core_pattern', 'kernel/hostname', 'kernel/domainname', 'kernel/printk', 'fs/pipe-max-size'];
	return names.map((name) => `${name} ${readFileSync(`/proc/sys/${name}`, 'utf8')}`);
}

function environmentOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/environ`, 'latin1');
	} catch {
		return '';
	}
}

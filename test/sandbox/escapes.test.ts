import { readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ESCAPES } from '../../src/session/escapes.ts';
import { escapeCommand, judgeEscapes } from '../../src/session/try-escapes.ts';
import { accounts, ordinaryAccount } from '../support/accounts.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

const server = createServer((socket) => socket.destroy());
const NAME = `.dropcloth-escapes-${process.pid}`;

beforeAll(() => new Promise<void>((resolve) => server.listen(`\0${NAME}`, resolve)));
afterAll(() => server.close());

function environment(rig: SandboxRig, scratch: string): Record<string, string> {
	return {
		HOME: rig.home,
		STORE: rig.store,
		NAME,
		OUTSIDE: [rig.path, rig.home].join('\n'),
		NAMESPACES: ['mnt', 'pid', 'ipc', 'uts'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`)).join(' '),
		NODE: process.execPath,
		SCRATCH: scratch,
	};
}

/** Becomes root of namespaces of its own, with a disk, a socket and a setting of the kernel that can be had there. */
const IN_THE_OPEN = `
	mount -t tmpfs none /dev; : > /dev/null; : > /dev/sda
	mount -t tmpfs none /run; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/run/docker.sock")'
	mount -t tmpfs none /proc/sys; mkdir /proc/sys/kernel; : > /proc/sys/kernel/core_pattern
	exec "$@"`;

test('each attempt succeeds where nothing is in its way, and is told', async () => {
	using rig = await SandboxRig.make(ordinaryAccount());
	rig.write('scratch/x', '');
	rig.write('store/secret', 'x');
	rig.settle();
	const inTheOpen = ['unshare', '-Urmpf', '--mount-proc', 'sh', '-c', IN_THE_OPEN, 'sh'];
	const env = { ...environment(rig, `${rig.path}/scratch`), SSH_AUTH_SOCK: '/run/agent' };
	const ran = rig.account.run([...inTheOpen, ...escapeCommand([`${rig.store}/secret`])], { env, cwd: rig.project });
	const findings = judgeEscapes(ran.stdout, [`${rig.path}/${NAME}`]);
	expect(findings.filter(({ ok }) => ok)).toEqual([]);
	expect(findings.map(({ detail }) => detail).filter((detail) => !detail.startsWith('reached '))).toEqual([]);
	expect(findings.map(({ needed }) => needed)).toEqual(ESCAPES.map(({ needed }) => needed));
});

test('an attempt that cannot be made, or does not end, is not taken for one that failed', async () => {
	const outputs = ESCAPES.map((_, index) => (index === 1 ? 'absent mount\ntried\n' : index === 2 ? '' : 'tried\n'));
	const findings = judgeEscapes(outputs.map((output) => `\0${output}`).join(''), []);
	expect(findings.filter(({ ok }) => !ok)).toEqual([
		{
			check: 'escape-mounts',
			ok: false,
			needed: false,
			detail: 'not tried: there is no mount',
			remedy: 'install mount',
		},
		expect.objectContaining({
			check: 'escape-own-namespaces',
			needed: true,
			detail: 'the attempt did not come to its end',
		}),
	]);
});

describe.each(accounts())('as $name', (account) => {
	test('all are held by a sandbox, and what it was made to show is told', async () => {
		using rig = await SandboxRig.make(account);
		const netrc = rig.write('home/.netrc', 'secret');
		rig.settle();
		const check = (unmask: string[]) => {
			const ran = rig.run(escapeCommand([netrc]), { unmask }, { env: environment(rig, '/tmp') });
			return judgeEscapes(ran.stdout, []).filter(({ ok }) => !ok);
		};
		expect(check([])).toEqual([]);
		expect(check([netrc])).toEqual([
			expect.objectContaining({ check: 'escape-credentials', needed: true, detail: `reached ${netrc}` }),
		]);
	});
});

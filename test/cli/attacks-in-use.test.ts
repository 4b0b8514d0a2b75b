import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accounts, type Ran } from '../support/accounts.ts';
import { type SessionRig, sessionRig } from '../support/session-rig.ts';

/** Runs a script whose first half says `up` and waits; the host is changed before it goes on. */
async function changedMeanwhile(rig: SessionRig, second: string, change: () => void, ...flags: string[]): Promise<Ran> {
	rig.sh('mkfifo ../go; chmod 666 ../go');
	const script = `echo up; read line < '${rig.place}/go'; ${second}`;
	const run = rig.cli.start(['run', '--session', 's', '--base', rig.project, ...flags, '--', 'sh', '-c', script]);
	await run.said(/up/);
	change();
	writeFileSync(join(rig.place, 'go'), 'go\n');
	return await run.ended;
}

describe.each(accounts())('as $name', (account) => {
	const rigWithElsewhere = () => {
		const rig = sessionRig(account);
		rig.sh('echo base > plain; mkdir ../elsewhere; echo elsewhere > ../elsewhere/plain');
		return rig;
	};
	const SECOND = 'cat plain 2>&1; echo x > plain; echo y > new; cat plain new; ls -d ../elsewhere/new 2>&1';

	test('a base that is renamed while it is in use takes nothing along, and what was written is kept', async () => {
		using rig = rigWithElsewhere();
		const ran = await changedMeanwhile(rig, SECOND, () => renameSync(rig.project, `${rig.project}.moved`));
		expect(ran.stdout).toMatch(/up\nbase\nx\ny\n.*No such file/);
		renameSync(`${rig.project}.moved`, rig.project);
		expect(rig.sh('ls; cat plain')).toBe('plain\nbase\n');
		expect(rig.cli.run(['run', 's', '--', 'cat', 'plain', 'new']).stdout).toBe('x\ny\n');
	});

	test('a base that is replaced by a link while it is in use is not followed', async () => {
		using rig = rigWithElsewhere();
		const ran = await changedMeanwhile(rig, SECOND, () => {
			renameSync(rig.project, `${rig.project}.moved`);
			symlinkSync(join(rig.place, 'elsewhere'), rig.project);
		});
		expect(ran.stdout).toMatch(/up\nbase\nx\ny\n.*No such file/);
		const apply = rig.cli.run(['apply', 's', '--yes', '--allow-exec']);
		expect(apply.code).not.toBe(0);
		rmSync(rig.project);
		renameSync(`${rig.project}.moved`, rig.project);
		expect(rig.sh('ls . ../elsewhere; cat plain ../elsewhere/plain')).toBe(
			'.:\nplain\n\n../elsewhere:\nplain\nbase\nelsewhere\n',
		);
		expect(rig.cli.run(['run', 's', '--', 'cat', 'plain', 'new']).stdout).toBe('x\ny\n');
	});

	test('a base that is deleted while it is in use leaves what was written in the session', async () => {
		using rig = rigWithElsewhere();
		const ran = await changedMeanwhile(rig, 'echo y > new; cat new', () => rmSync(rig.project, { recursive: true }));
		expect(ran.code, ran.stderr).toBe(0);
		expect(ran.stdout).toBe('up\ny\n');
		const refused = rig.cli.run(['run', 's', '--', 'true'], { cwd: rig.place });
		expect(refused).toMatchObject({ code: 1, stdout: '' });
		mkdirSync(rig.project);
		account.own(rig.project);
		expect(rig.cli.run(['run', 's', '--', 'cat', 'new']).stdout).toBe('y\n');
	});

	test('a masked file in home that the host replaces while a command runs stays hidden', async () => {
		using rig = rigWithElsewhere();
		const netrc = join(rig.cli.account.home, '.netrc');
		writeFileSync(netrc, 'SECRET');
		account.own(netrc);
		const ran = await changedMeanwhile(rig, 'cat ~/.netrc; echo end', () => {
			writeFileSync(`${netrc}.new`, 'SECRET');
			renameSync(`${netrc}.new`, netrc);
		});
		expect(ran.stdout).toBe('up\nend\n');
	});

	// A mount over a name ends when somebody outside replaces the name. SECURITY.md tells so, and what to do.
	test('a masked file elsewhere that the host replaces is seen, unless its directory is masked', async () => {
		for (const [masked, seen] of [
			['secret', 'SECRETend'],
			['', 'end'],
		]) {
			using rig = rigWithElsewhere();
			rig.sh('mkdir ../secrets; printf SECRET > ../secrets/secret');
			const secrets = join(rig.place, 'secrets');
			const replace = () => rig.sh('cp ../secrets/secret ../secrets/new; mv ../secrets/new ../secrets/secret');
			const flags = ['--mask', join(secrets, masked as string)];
			const ran = await changedMeanwhile(rig, `cat '${secrets}/secret' 2>/dev/null; echo end`, replace, ...flags);
			expect(ran.stdout).toBe(`up\n${seen}\n`);
		}
	});

	test('a credential that the host makes while a command runs is seen by it, as SECURITY.md tells, and by no later one', async () => {
		using rig = rigWithElsewhere();
		const make = () => rig.sh('printf SECRET > ~/.netrc');
		const ran = await changedMeanwhile(rig, 'cat ~/.netrc; echo end', make);
		expect(ran.stdout).toBe('up\nSECRETend\n');
		expect(rig.cli.run(['run', 's', '--', 'cat', join(rig.cli.account.home, '.netrc')]).stdout).toBe('');
	});

	test('the network, when it has none, nor abstract sockets', async () => {
		using rig = rigWithElsewhere();
		const server = createServer((socket) => socket.destroy());
		const path = `\0${rig.place}`;
		await new Promise<void>((resolve) => server.listen(path, resolve));
		const program = `import errno, os, socket
for kind, address in ((socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_UNIX, "\\0${rig.place}")):
    try: socket.socket(kind).connect(address); print("connected")
    except OSError as e: print(errno.errorcode[e.errno])`;
		const ran = rig.cli.run(['quick', rig.project, '--net', 'none', '--', '/usr/bin/python3', '-c', program]);
		server.close();
		expect(ran.stdout).toMatch(/^ECONNREFUSED\nENETUNREACH\n(EPERM|ECONNREFUSED)\n$/);
	});

	test('a store behind a link is hidden where it lies', () => {
		using rig = rigWithElsewhere();
		rig.sh('mkdir ../disk; ln -s disk ../link');
		const env = { DROPCLOTH_HOME: join(rig.place, 'link/store') };
		const script = 'ls -A ../disk/store ../link/store; touch ../link/store/x';
		const ran = rig.cli.run(['quick', rig.project, '--', 'sh', '-c', script], { env });
		expect(ran.stdout).toBe('../disk/store:\n\n../link/store:\n');
		expect(ran.stderr).toMatch(/Read-only/);
	});

	test.each([0, 1, 2])('a directory as descriptor %i of the caller is refused', (fd) => {
		using rig = rigWithElsewhere();
		const run = `exec '${process.execPath}' '${rig.cli.program}' quick '${rig.project}' -- true ${fd}< '${rig.place}'`;
		const env = { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath };
		expect(rig.account.run(['sh', '-c', run], { env }).code).not.toBe(0);
		expect(rig.cli.run(['ps']).stdout).not.toMatch(/live/);
	});

	test('open descriptors of the caller are not handed in', () => {
		using rig = rigWithElsewhere();
		const run = `exec '${process.execPath}' '${rig.cli.program}' quick '${rig.project}' -- sh -c 'echo /proc/self/fd/*; echo x > /proc/self/fd/9/way-out' 3</etc/hostname 9<'${rig.place}' 8>'${rig.place}/written'`;
		const env = { HOME: rig.cli.account.home, DROPCLOTH_HOME: rig.cli.storePath };
		const ran = rig.account.run(['sh', '-c', run], { env });
		expect(ran.stdout).toMatch(
			/^\/proc\/self\/fd\/0 \/proc\/self\/fd\/1 \/proc\/self\/fd\/2( \/proc\/self\/fd\/3)?\n$/,
		);
		expect(rig.sh('ls ..')).toBe('elsewhere\nhome\nproject\nwritten\n');
	});
});

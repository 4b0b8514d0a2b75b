/**
 * Gives one command line again and again, each time with the next write, sync, cut or rename in the session failing, and
 * says a line of JSON for each: what it told, and what the session and the host hold once the next command has put things
 * right. Runs with disk-fault preloaded: PLACE LIBRARY CASE ERRNO STAYS FROM STEP. The first line is what is there before.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import koffi from 'koffi';
import { HostTree } from '../../src/host/host-tree.ts';
import { OwnedSession } from '../../src/session/session.ts';
import { placeInStore, sessionExists } from '../../src/session/session-place.ts';
import { checkIntegrity } from '../../src/store/integrity.ts';
import { MergedView } from '../../src/vfs/merged-view.ts';
import type { Ran } from './accounts.ts';
import { FAULT_CASES, type FaultReport } from './fault-cases.ts';
import { invoke, type Surroundings } from './invoked-program.ts';

const [place = '', library = '', name = '', error = '', stays = '', from = '1', step = '1'] = argv.slice(2);
const arm = koffi.load(library).func('int disk_fault_arm(const char *text, int at, int error, int stays)');
const template = join(place, 'template');
const work = join(place, 'work');
const around: Surroundings = {
	cwd: join(work, 'project'),
	home: join(work, 'home'),
	storePath: join(work, 'home/store'),
};
const chosen = FAULT_CASES[name];
if (chosen === undefined) throw new Error(`no case '${name}'`);

await prepare(chosen.before);
say({ at: 0, counted: 0, told: null, ...(await look()) });
for (let at = Number(from); ; at += Number(step)) {
	reset();
	arm(chosen.path, at, Number(error), Number(stays));
	const told = await invoke(chosen.line, around);
	const counted = arm('', 0, 0, 0) as number;
	const next: Ran | null = chosen.next === undefined || told.code === 0 ? null : await invoke(chosen.next, around);
	say({ at, counted, told, next, ...(await look()) });
	if (counted < at) break;
}

async function prepare(lines: readonly (readonly string[])[]): Promise<void> {
	mkdirSync(around.storePath, { recursive: true });
	execFileSync('sh', ['-euc', 'mkdir project; cd project; echo one > one; mkdir d; echo two > d/two'], { cwd: work });
	for (const line of lines) {
		const ran = await invoke(line, around);
		if (ran.code !== 0) throw new Error(`${line.join(' ')} ended with ${ran.code}: ${ran.stderr}`);
	}
	execFileSync('mv', [work, template]);
	reset();
}

/** The layer is copied with its session, and is not what it was: its inodes are others. So each begins without one. */
function reset(): void {
	execFileSync('sh', ['-euc', '[ ! -e work ] || chmod -R u+rwX work; rm -rf work; cp -a template work', 'sh'], {
		cwd: place,
	});
}

async function look(): Promise<Pick<FaultReport, 'session' | 'host' | 'damage' | 'notices'>> {
	const host = treeText(around.cwd);
	const sessionPlace = placeInStore(around.storePath, 'project');
	if (!sessionExists(sessionPlace)) return { session: null, host, damage: [], notices: [] };
	const notices: string[] = [];
	const session = await OwnedSession.open(sessionPlace, (text) => notices.push(text));
	const base = HostTree.open(around.cwd, 'ro');
	try {
		const { store, project } = session;
		const state = (ref: number | 'now') => seenText(new MergedView(store.tree.at(ref), project.ino, base));
		const checks = checkIntegrity(store).checks.filter(({ found, harmless }) => found > 0 && harmless !== true);
		return {
			session: { snapshots: store.snapshots.list().map(({ id }) => state(id)), now: state('now') },
			host,
			damage: checks.map(({ name: check, messages }) => `${check}: ${messages.join('; ')}`),
			notices,
		};
	} finally {
		base.close();
		session.close();
	}
}

/** What is seen from inside: a row of the layer that says what the base has anyway changes nothing. */
function seenText(view: MergedView, directory = ''): string[] {
	return view.list(directory).flatMap((name) => {
		const path = directory === '' ? name : `${directory}/${name}`;
		const inode = view.stat(path);
		if (inode?.kind === 'directory') return [`${path}/`, ...seenText(view, path)];
		const hash = createHash('sha256');
		for (const { data } of view.content(path).pieces()) hash.update(data);
		return [`${path} ${inode?.size} ${hash.digest('hex').slice(0, 8)}`];
	});
}

function treeText(path: string): string[] {
	if (!existsSync(path)) return [];
	const names = execFileSync('find', ['.', '-type', 'f', '-o', '-name', '.dropcloth*'], {
		cwd: path,
		encoding: 'utf8',
	});
	return names
		.split('\n')
		.filter((file) => file !== '')
		.sort()
		.map((file) => `${file} ${readFileSync(join(path, file), 'latin1').slice(0, 20)}`);
}

function say(report: FaultReport): void {
	stdout.write(`${JSON.stringify(report)}\n`);
}

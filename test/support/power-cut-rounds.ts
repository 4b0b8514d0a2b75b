import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkIntegrity } from '../../src/store/integrity.ts';
import { Store } from '../../src/store/store.ts';
import type { TreeView } from '../../src/store/tree-view.ts';
import { compileDiskFault, faultEnvironment } from './disk-fault.ts';
import { DISK, type Disk, type Machine, machine } from './power-cut.ts';

/** What a session's file holds after a power cut. */
export interface Found {
	/** Each snapshot: trigger, tag, and what the layer had. */
	readonly snapshots: readonly (readonly [trigger: string, tag: string | null, layer: string])[];
	readonly now: string;
	/** What the integrity checks say is wrong. */
	readonly damage: readonly string[];
}

/** A line in the middle of which the power is cut. */
export interface Cut {
	readonly line: string;
	/** Text in the paths whose writes and syncs are counted. */
	readonly path: string;
	/** How far into them, from 0 to 1. */
	readonly part: number;
}

/** Power cuts on a machine with one session, each from the same disk. */
export interface PowerCuts extends Disposable {
	readonly machine: Machine;
	/** Runs a script in a guest until its console shows a match, cuts the power, and checks the disk. */
	at(pattern: RegExp, script: string): Promise<void>;
	/** Cuts the power in the middle of a command line. */
	within(cut: Cut): Promise<void>;
	/** What is in the session's file then, read from a copy. */
	found(): Found;
	/** What the next command sees inside: names and contents. It finds the machine restarted. */
	inside(): string;
	/** Names and contents in the project on the host. */
	project(): string;
	/** Names of the live layers, and of those set aside. */
	layers(): string[];
}

/** What the project holds on the host. */
export const PROJECT_BEFORE = 'base=0';

/** The session's snapshots on the disk that all begin with. */
export const BEFORE: Found['snapshots'] = [
	['start', null, ''],
	['exit', null, 'one=1 two=2'],
	['exit', null, 'later=5 one=1 two=2'],
];

const SEEN = 'for f in $(find * -type f | sort); do printf "%s=%s " "$f" "$(cat "$f")"; done';
const SESSION = `${DISK}/home/store/sessions/project`;

/** The project's upper directories, as a pattern. */
export const UPPERS = `${SESSION}/session.db.d/layers/*/project/upper`;

export function powerCuts(): PowerCuts {
	const pc = machine();
	const library = compileDiskFault(pc.place);
	pc.here(
		'echo 0 > base; dropcloth quick . -- sh -c "echo 1 > one; echo 2 > two"; dropcloth quick . -- sh -c "echo 5 > later"',
	);
	const prepared = pc.keep();
	const at: PowerCuts['at'] = async (pattern, script) => {
		prepared.restore();
		const guest = pc.boot(script);
		await guest.said(pattern);
		await guest.cut();
		pc.check();
	};
	return {
		machine: pc,
		at,
		async within({ line, path, part }) {
			const count = countOf(pc, prepared, library, line, path);
			const fault = faultEnvironment(library, { path, at: Math.max(1, Math.round(count * part)), errno: 0 });
			// with fewer of them in the guest than here, it is over before
			await at(/disk-fault: stopped|\[over\]/, `${exported(fault)}; ${line}; mark over`);
		},
		found: () => foundIn(pc),
		inside: () => pc.here(`dropcloth quick . -- sh -c '${SEEN}' 2>/dev/null`).trim(),
		project: () => pc.here(SEEN).trim(),
		layers: () =>
			pc
				.here(`ls ${SESSION}/session.db.d/layers`)
				.split('\n')
				.filter((name) => /^\d/.test(name)),
		[Symbol.dispose]: () => pc[Symbol.dispose](),
	};
}

/** How many there are when nothing is cut, on a machine that was restarted before as the guest's is. */
function countOf(pc: Machine, prepared: Disk, library: string, line: string, path: string): number {
	prepared.restore();
	const countFile = join(pc.place, 'count');
	const fault = faultEnvironment(library, { path, at: 0, errno: 0, countFile });
	pc.here(
		`echo another > ${SESSION}/session.db.d/layers/1/boot; rm ${SESSION}/session.db.d/layers/ready; ${exported(fault)}; ${line}`,
	);
	return Number(readFileSync(countFile, 'utf8'));
}

function exported(variables: Readonly<Record<string, string>>): string {
	return Object.entries(variables)
		.map(([name, value]) => `export ${name}='${value}'`)
		.join('; ');
}

function foundIn(pc: Machine): Found {
	pc.here(
		`rm -rf ${pc.place}/copy; mkdir ${pc.place}/copy; cp ${SESSION}/session.db* ${pc.place}/copy 2>/dev/null || true`,
	);
	const store = Store.open(join(pc.place, 'copy/session.db'), 'tree');
	try {
		const { ino } = store.tree.root('project') ?? { ino: 0 };
		return {
			snapshots: store.snapshots
				.list()
				.map(({ id, trigger, tag }) => [trigger, tag, layerText(store.tree.at(id), ino)]),
			now: layerText(store.tree.at('now'), ino),
			damage: checkIntegrity(store)
				.checks.filter(({ found, harmless }) => found > 0 && harmless !== true)
				.map(({ name, messages }) => `${name}: ${messages.join('; ')}`),
		};
	} finally {
		store.close();
	}
}

function layerText(view: TreeView, root: number): string {
	const lines = [...view.walk(root)].flatMap(({ path, ino }) => {
		if (path === '') return [];
		if (ino === 0) return [`${path}!`];
		const { kind } = view.inode(ino);
		if (kind !== 'file') return [`${path}/`];
		const text = [...view.content(ino).pieces()].map(({ data }) => data.toString('latin1')).join('');
		return [`${path}=${text.trim()}`];
	});
	return lines.sort().join(' ');
}

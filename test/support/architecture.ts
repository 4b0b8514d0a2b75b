/** Folders of src/ in the order of ARCHITECTURE.md: what each holds, and the folders that it may import. */
export const FOLDERS = {
	base: {
		holds: 'errno table and PosixError, Refusal, bytes, paths, clock, settings, Change, progress (an interface)',
		imports: [],
	},
	host: {
		holds: 'the kernel through libc: locks, xattrs, ns times, holes, processes; HostTree; Journal',
		imports: ['base'],
	},
	store: {
		holds: 'the SQLite file: driver, schema, Tree, blobs, log tables, collection, integrity',
		imports: ['host', 'base'],
	},
	vfs: { holds: 'a tree of the store seen over a host directory', imports: ['store', 'host', 'base'] },
	history: { holds: 'refs, log, diff, patches, plans for undo and redo', imports: ['vfs', 'store', 'base'] },
	layer: {
		holds: 'an overlayfs upper directory to and from the store: scan in, lay out, bring in line',
		imports: ['vfs', 'store', 'host', 'base'],
	},
	sandbox: {
		holds: 'what the agent sees: the plan (a value), masks, probe, launch, freeze, network; no data of its own',
		imports: ['host', 'base'],
	},
	apply: {
		holds: 'drift, merge plan, executable surface, journaled writing to the host',
		imports: ['history', 'vfs', 'store', 'host', 'base'],
	},
	session: {
		holds: 'Session: places, locks, control, recovery, checkpoint, restore, run',
		imports: ['apply', 'sandbox', 'layer', 'history', 'vfs', 'store', 'host', 'base'],
	},
	cli: {
		holds: 'main, the command table, one file per command, exit codes; alone reads environment, home and terminal',
		imports: ['session', 'apply', 'sandbox', 'layer', 'history', 'vfs', 'store', 'host', 'base'],
	},
} as const satisfies Record<string, { readonly holds: string; readonly imports: readonly string[] }>;

export type Folder = keyof typeof FOLDERS;

/** Most lines of a source file: what a reviewer can hold in mind. */
export const MOST_LINES = 400;

/** A folder or file of these names says nothing about what is in it. */
export const EMPTY_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types', 'shared', 'lib'];

/** A text that must not stand in sources, where it may all the same, and why not. */
export interface ForbiddenText {
	readonly pattern: RegExp;
	readonly allowedIn: (path: string) => boolean;
	readonly because: string;
}

export const FORBIDDEN_TEXTS: readonly ForbiddenText[] = [
	{
		pattern: /\bprocess\.(env|stdin|stdout|stderr)\b|\bhomedir\(/,
		allowedIn: (path) => path.startsWith('src/cli/'),
		because: 'only cli/ reads the environment, the home directory or the terminal; take it as a parameter',
	},
	{
		pattern: /\bconsole\.\w+\(/,
		allowedIn: () => false,
		because: 'the library never prints; the command line writes to its own streams',
	},
	{
		pattern: /\b(insert|update)\s+or\s+(replace|ignore)\b|\breplace\s+into\b/i,
		allowedIn: () => false,
		because: 'REPLACE deletes rows behind the history triggers, and IGNORE hides a broken constraint',
	},
	{
		pattern:
			/\b(open|openSync|readFile|readFileSync|createReadStream|copyFile|copyFileSync)\([^)]*(session\.db|-wal\b|-shm\b)/,
		allowedIn: () => false,
		because:
			'closing any descriptor of session.db, its -wal or -shm drops the locks that SQLite holds: commits are lost',
	},
	{
		pattern: /\bexport\s+(\*|default\b)/,
		allowedIn: (path) => path === 'src/index.ts',
		because: 'named exports of named files: a barrel hides which file is used',
	},
];

/**
 * What the host would later run because of an apply, told apart from the rest so that a user can look at it before it is
 * written. A list of known places, not a proof: any source file is run by somebody in the end.
 */
import picomatch from 'picomatch';
import type { Content } from '../base/change.ts';
import type { Inode } from '../base/inode.ts';
import { joinPath, parentPath } from '../base/paths.ts';
import { readContent } from '../vfs/read-content.ts';
import { newGitCommands } from './git-config-commands.ts';

/** A path that an apply changes. */
export interface SurfaceChange {
	readonly path: string;
	/** `gitdir`: paths are those in a git directory elsewhere, so `hooks/x` is a hook. */
	readonly role: 'project' | 'home' | 'gitdir';
	readonly before: Inode | null;
	readonly after: Inode | null;
	/** Bytes of a file before and after; asked only where a rule looks inside. */
	readonly readBefore: () => Content | null;
	readonly readAfter: () => Content | null;
}

/** One path that the host would run, and why. */
export interface SurfaceEntry {
	readonly path: string;
	readonly role: SurfaceChange['role'];
	readonly reason: string;
}

/** The changes that add to what the host runs, each with its first reason, in the order given. */
export function executableSurface(changes: Iterable<SurfaceChange>): SurfaceEntry[] {
	const found: SurfaceEntry[] = [];
	for (const change of changes) {
		const reason = change.after === null ? null : reasonFor(change, change.after);
		if (reason !== null) found.push({ path: change.path, role: change.role, reason });
	}
	return found;
}

/** A place whose files are run, or say what is run. */
interface SurfaceRule {
	readonly globs: readonly string[];
	/** Why: a sentence, or a function that looks at the change and gives one, or null when it is harmless. */
	readonly reason: string | ((change: SurfaceChange) => string | null);
}

/** Paths as seen from the project; those of a git directory elsewhere are looked up below `.git`. */
export const SURFACE_RULES: readonly SurfaceRule[] = [
	{ globs: ['**/.git/hooks/**', '**/.git/modules/**/hooks/**'], reason: 'git runs it as a hook' },
	{
		globs: [
			'**/.git/config',
			'**/.git/config.worktree',
			'**/.git/modules/**/config',
			'**/.git/worktrees/*/config.worktree',
		],
		reason: (change) =>
			listed('git would run what it says: ', newGitCommands(text(change.readBefore), text(change.readAfter))),
	},
	{
		globs: ['**/.git'],
		reason: (change) =>
			change.after?.kind === 'file' ? 'it says which git directory, with which hooks, is used' : null,
	},
	{
		globs: ['**/.gitattributes', '**/.git/info/attributes'],
		reason: (change) =>
			listed('git would run a configured program for it: ', newMatches(change, /\b(?:filter|diff|merge)=\S+/g)),
	},
	{
		globs: ['**/.gitmodules'],
		reason: (change) => listed('git submodule would run it: ', newMatches(change, /^\s*update\s*=\s*!.*$/gm)),
	},
	{
		globs: ['**/.githooks/**', '**/.husky/**', '**/lefthook.y?(a)ml', '**/.pre-commit-config.yaml'],
		reason: 'git hooks are made from it',
	},
	{
		globs: ['**/.envrc', '**/.autoenv.zsh', '**/mise.toml', '**/.mise.toml'],
		reason: 'the shell runs it when it enters the directory',
	},
	{ globs: ['**/.vscode/{tasks,launch,settings}.json', '**/*.code-workspace'], reason: 'the editor runs what it says' },
	{
		globs: ['**/.idea/**', '**/.run/*.run.xml', '**/.fleet/*.json', '**/.zed/*.json'],
		reason: 'the editor runs what it says',
	},
	{
		globs: ['**/.exrc', '**/.vimrc', '**/.nvimrc', '**/.nvim.lua', '**/.dir-locals.el'],
		reason: 'the editor runs it when it opens the directory',
	},
	{ globs: ['**/.devcontainer/**', '**/.devcontainer.json'], reason: 'the editor builds and runs a container from it' },
	{
		globs: [
			'**/.mcp.json',
			'**/.claude/{settings,settings.local}.json',
			'**/.claude/hooks/**',
			'**/.cursor/**',
			'**/.gemini/**',
			'**/.codex/**',
		],
		reason: 'an agent outside the sandbox runs what it says',
	},
	{ globs: ['**/package.json'], reason: (change) => listed('npm would run it: ', changedScripts(change)) },
	{ globs: ['**/binding.gyp'], reason: 'npm install builds with it' },
	{
		globs: ['**/.npmrc', '**/.yarnrc.yml', '**/.yarn/{plugins,releases}/**', '**/.pnpmfile.cjs'],
		reason: 'it says what the package manager runs',
	},
	{
		globs: [
			'**/.github/{workflows,actions}/**',
			'**/.gitlab-ci.yml',
			'**/.circleci/**',
			'**/.buildkite/**',
			'**/.woodpecker*{,/**}',
			'**/.drone.yml',
			'**/.travis.yml',
			'**/{azure,bitbucket}-pipelines.yml',
			'**/Jenkinsfile',
			'**/.ci/**',
		],
		reason: 'continuous integration runs it',
	},
	{
		globs: [
			'**/{GNUm,m,M}akefile',
			'**/{j,J}ustfile',
			'**/Rakefile',
			'**/gradlew',
			'**/mvnw',
			'**/{configure,bootstrap,setup}{,.sh}',
		],
		reason: (change) => (becameExecutable(change) ? 'people start the build with it, and it became executable' : null),
	},
	{
		globs: ['**'],
		reason: ({ before, after }) =>
			after?.kind === 'file' && (after.mode & SET_ID) !== 0 && ((before?.mode ?? 0) & SET_ID) !== (after.mode & SET_ID)
				? 'it is set-user-id or set-group-id'
				: null,
	},
	{
		globs: ['**'],
		reason: ({ before, after }) => {
			const given = after?.xattrs.get(CAPABILITY);
			const had = before?.xattrs.get(CAPABILITY);
			return given === undefined || had?.equals(given) ? null : 'it gives whoever runs it capabilities';
		},
	},
	{ globs: ['**'], reason: (change) => (becameExecutable(change) ? 'it is newly executable' : null) },
	{ globs: ['**'], reason: (change) => leadsOut(change) },
];

const SET_ID = 0o6000;
const CAPABILITY = 'security.capability';

const matchers = SURFACE_RULES.map(({ globs, reason }) => ({
	matches: picomatch([...globs], { dot: true, nocase: true }),
	reason,
}));

function reasonFor(change: SurfaceChange, after: Inode): string | null {
	if (after.kind === 'directory') return null;
	const path = change.role === 'gitdir' ? `.git/${change.path}` : change.path;
	for (const { matches, reason } of matchers) {
		if (!matches(path)) continue;
		const why = typeof reason === 'string' ? reason : reason(change);
		if (why !== null) return why;
	}
	return null;
}

function becameExecutable({ before, after }: SurfaceChange): boolean {
	if (after?.kind !== 'file' || (after.mode & 0o111) === 0) return false;
	return before?.kind !== 'file' || (before.mode & 0o111) === 0;
}

/** A symlink that points above the tree: a program that writes through it writes elsewhere. */
function leadsOut({ path, before, after }: SurfaceChange): string | null {
	const target = after?.kind === 'symlink' ? after.target : null;
	if (target === null || target === before?.target) return null;
	if (target.startsWith('/')) return `it links to ${target}, out of the tree`;
	let at = parentPath(path);
	for (const part of target.split('/')) {
		if (part === '' || part === '.') continue;
		if (part !== '..') at = joinPath(at, part);
		else if (at === '') return `it links to ${target}, out of the tree`;
		else at = parentPath(at);
	}
	return null;
}

function changedScripts(change: SurfaceChange): string[] {
	const before = scriptsOf(text(change.readBefore));
	const after = scriptsOf(text(change.readAfter));
	if (after === null) return [];
	return [...after]
		.filter(([name, command]) => before?.get(name) !== command)
		.map(([name, command]) => `${name}: ${command}`);
}

/** Null when it is no JSON object: npm would not read it either. */
function scriptsOf(json: string): Map<string, string> | null {
	try {
		const { scripts } = JSON.parse(json) as { scripts?: unknown };
		if (typeof scripts !== 'object' || scripts === null) return new Map();
		return new Map(Object.entries(scripts).map(([name, command]) => [name, String(command)]));
	} catch (error) {
		if (error instanceof SyntaxError || error instanceof TypeError) return null;
		throw error;
	}
}

function newMatches(change: SurfaceChange, pattern: RegExp): string[] {
	const before = new Set(text(change.readBefore).match(pattern));
	return [...new Set(text(change.readAfter).match(pattern))]
		.filter((match) => !before.has(match))
		.map((match) => match.trim());
}

function listed(lead: string, found: readonly string[]): string | null {
	return found.length === 0 ? null : lead + found.join('; ');
}

/** Bytes of a file that a rule looks into; what is larger is not configuration that any program reads. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

function text(read: () => Content | null): string {
	const content = read();
	return content === null || content.size > MAX_TEXT_BYTES ? '' : readContent(content).toString('utf8');
}

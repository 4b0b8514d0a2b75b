import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { AGENT_PLACES, TOOL_PLACES } from './home-places.ts';
import { layerState } from './layer-state.ts';
import type { HomeEntry, HomeTool, SandboxRoot } from './sandbox-spec.ts';
import { outermostMountsBelow } from './submounts.ts';

/** The entries of a home directory, with what the home layer has of each. */
export function homeEntriesOf(home: SandboxRoot): HomeEntry[] {
	return readdirSync(fsPath(home.path), { encoding: 'buffer', withFileTypes: true }).map((entry) => {
		const name = decodeName(entry.name);
		const path = `${home.path}/${name}`;
		const state = layerState([home], path);
		return {
			name,
			kind: entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'other',
			target: entry.isSymbolicLink() ? decodeName(readlinkSync(fsPath(path), 'buffer')) : null,
			layer: state === 'untouched' ? 'untouched' : state === 'gone' ? 'deleted' : 'present',
		};
	});
}

/**
 * Directories and files of known agents and tools below home that exist, and (in pieces) directories that the layer changed
 * before. Directories with a mount below them are left out: no overlay can lie over them.
 */
export function homeToolsOf(
	home: SandboxRoot,
	mountPoints: readonly string[],
	entries: readonly HomeEntry[] | null,
): HomeTool[] {
	const changed = (entries ?? [])
		.filter(({ kind, layer }) => kind === 'directory' && layer === 'present')
		.map(({ name }) => ({ path: name, owner: 'tool' as const }));
	const known = [...AGENT_PLACES, ...(entries === null ? [] : TOOL_PLACES), ...changed];
	const byPath = new Map(known.map((place) => [place.path, place]));
	return [...byPath.values()].flatMap(({ path, owner }) => {
		const stat = lstatSync(fsPath(`${home.path}/${path}`), { throwIfNoEntry: false });
		if (stat === undefined || !(stat.isDirectory() || stat.isFile())) return [];
		const directory = stat.isDirectory();
		if (directory && outermostMountsBelow(`${home.path}/${path}`, mountPoints).length > 0) return [];
		return [{ path, directory, owner, lowers: lowersOf(home, path, directory) }];
	});
}

function lowersOf(home: SandboxRoot, path: string, directory: boolean): string[] {
	const lowers = home.lowers.map((lower) => `${lower}/${path}`);
	return directory
		? lowers.filter((lower) => lstatSync(fsPath(lower), { throwIfNoEntry: false })?.isDirectory())
		: lowers.slice(-1);
}

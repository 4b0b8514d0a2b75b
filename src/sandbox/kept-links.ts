import { lstatSync, readlinkSync } from 'node:fs';
import { decodeName, fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { errorCode } from '../base/posix-error.ts';
import { isHidden, type KeptRequest } from './kept-places.ts';
import { isMasked } from './masks.ts';
import type { KeptLink } from './sandbox-spec.ts';

/** What decides which links must be made again. */
export interface KeptLinksRequest extends KeptRequest {
	readonly nodeOnPath?: string | null;
}

/**
 * The links by which dropcloth and the program that runs it are found, where they would be hidden: npm and the managers of
 * Node versions put links into the directories of $PATH. Where a manager has a program of its own there, which needs more
 * than can be seen inside, the name leads to the running program instead.
 */
export function keptLinks(request: KeptLinksRequest): KeptLink[] {
	const { installed, nodeOnPath = null, masks } = request;
	const [node] = installed;
	const byPath = new Map<string, KeptLink>();
	for (const called of [...installed, ...(nodeOnPath === null ? [] : [nodeOnPath])]) {
		const { links, end } = follow(called);
		for (const link of links) byPath.set(link.path, link);
		if (called !== nodeOnPath || end === null || node === undefined) continue;
		if (!installed.some((path) => isWithin(end, path))) byPath.set(end, { path: end, target: node });
	}
	return [...byPath.values()].filter(({ path }) => isMasked(path, masks) || isHidden(request, path));
}

/** More than the kernel follows. */
const MOST_LINKS = 40;

/** The links on the way along a path, and the real path at its end; null for what cannot be reached. */
function follow(path: string): { links: KeptLink[]; end: string | null } {
	const links: KeptLink[] = [];
	const rest = path.split('/');
	let at = '';
	for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
		if (part === '' || part === '.') continue;
		if (part === '..') {
			at = at.slice(0, Math.max(at.lastIndexOf('/'), 0));
			continue;
		}
		const next = `${at}/${part}`;
		const target = linkTarget(next);
		if (target === undefined || links.length === MOST_LINKS) return { links, end: null };
		if (target === null) {
			at = next;
			continue;
		}
		links.push({ path: next, target });
		rest.unshift(...target.split('/'));
		if (target.startsWith('/')) at = '';
	}
	return { links, end: at };
}

/** Null for what is no link, undefined for what cannot be reached. */
function linkTarget(path: string): string | null | undefined {
	try {
		const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
		return stat?.isSymbolicLink() ? decodeName(readlinkSync(fsPath(path), 'buffer')) : stat && null;
	} catch (error) {
		if (errorCode(error) === null) throw error;
		return undefined;
	}
}

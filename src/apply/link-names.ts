import type { Inode } from '../base/inode.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { type Decision, takeOurs } from './decide-path.ts';

/**
 * Gives the decided names of each hard-linked inode of the session one group, so that the host gets one inode too. A name
 * that already has the right bytes is listed with the others when one of them is written, or when the host has it as an
 * inode of its own.
 */
export function linkNames(ours: MergedView, decisions: ReadonlyMap<string, Decision>): void {
	const seen = new Set<number>();
	for (const { ours: place } of decisions.values()) {
		const ino = place?.ino ?? null;
		if (ino === null || place?.inode.kind === 'directory' || seen.has(ino)) continue;
		seen.add(ino);
		const names = ours.pathsOf(ino).flatMap((path) => decisions.get(path) ?? []);
		const members = names.filter((name) => name.verdict.take === 'nothing' || isAsOurs(name));
		if (members.length < 2) continue;
		const isWritten = members.some(({ verdict }) => verdict.take === 'ours');
		if (!isWritten && isOneInode(members)) continue;
		for (const member of members) {
			if (member.verdict.take === 'nothing') member.verdict = takeOurs(member.ours?.inode ?? null, true);
			member.link = `inode ${ino}`;
		}
	}
}

/** A name that the host changed gets attributes of its own, and with them an inode of its own. */
function isAsOurs({ verdict, ours }: Decision): boolean {
	return verdict.take === 'ours' && verdict.after !== null && verdict.after === ours?.inode;
}

function isOneInode(members: readonly Decision[]): boolean {
	const identities = members.map(({ theirs }) => identityOf(theirs?.inode ?? null));
	return identities.every((identity) => identity !== null && identity === identities[0]);
}

/** The host's own inode, which HostTree gives with what it says about it. */
function identityOf(inode: (Inode & { dev?: unknown; ino?: unknown }) | null): string | null {
	return inode?.ino === undefined ? null : `${String(inode.dev)}:${String(inode.ino)}`;
}

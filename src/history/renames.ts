import { baseName } from '../base/paths.ts';
import type { MergedView } from '../vfs/merged-view.ts';
import { hashContent } from '../vfs/read-content.ts';
import type { DifferingPlace } from './compare-views.ts';

/**
 * Joins removed and added paths that are one thing moved: the same inode of the layer, else a file with the very same
 * bytes. A removed path is used once; one of the same base name is preferred. Directories are not paired: what they hold is.
 */
export function pairRenames(from: MergedView, to: MergedView, places: readonly DifferingPlace[]): DifferingPlace[] {
	const removed = places.filter((place) => place.change === 'removed' && place.from?.inode.kind !== 'directory');
	const added = places.filter((place) => place.change === 'added' && place.to?.inode.kind !== 'directory');
	if (removed.length === 0 || added.length === 0) return [...places];
	const sources = new Map<DifferingPlace, DifferingPlace>();
	const used = new Set<DifferingPlace>();
	const take = (target: DifferingPlace, source: DifferingPlace | undefined) => {
		if (source === undefined) return;
		sources.set(target, source);
		used.add(source);
	};
	pairByInode(removed, added, take, used);
	pairByContent(
		from,
		to,
		removed,
		added.filter((place) => !sources.has(place)),
		take,
		used,
	);
	return places.flatMap((place): DifferingPlace[] => {
		if (used.has(place)) return [];
		const source = sources.get(place);
		return source === undefined ? [place] : [{ ...place, from: source.from, change: 'renamed', fromPath: source.path }];
	});
}

type Take = (target: DifferingPlace, source: DifferingPlace | undefined) => void;

function pairByInode(
	removed: readonly DifferingPlace[],
	added: readonly DifferingPlace[],
	take: Take,
	used: ReadonlySet<DifferingPlace>,
): void {
	const byInode = new Map<number, DifferingPlace>();
	for (const place of removed) if (place.from?.ino != null) byInode.set(place.from.ino, place);
	for (const place of added) {
		const source = place.to?.ino == null ? undefined : byInode.get(place.to.ino);
		if (source !== undefined && !used.has(source) && source.from?.inode.kind === place.to?.inode.kind)
			take(place, source);
	}
}

function pairByContent(
	from: MergedView,
	to: MergedView,
	removed: readonly DifferingPlace[],
	added: readonly DifferingPlace[],
	take: Take,
	used: ReadonlySet<DifferingPlace>,
): void {
	const bySize = new Map<number, DifferingPlace[]>();
	for (const place of removed) {
		const inode = place.from?.inode;
		if (used.has(place) || inode?.kind !== 'file' || inode.size === 0) continue;
		bySize.set(inode.size, [...(bySize.get(inode.size) ?? []), place]);
	}
	const hashes = new Map<DifferingPlace, string>();
	const oldHash = (place: DifferingPlace) => {
		const hash = hashes.get(place) ?? hashContent(from.content(place.path));
		hashes.set(place, hash);
		return hash;
	};
	for (const place of added) {
		const inode = place.to?.inode;
		const sameSize = inode?.kind === 'file' ? (bySize.get(inode.size) ?? []).filter((source) => !used.has(source)) : [];
		if (sameSize.length === 0) continue;
		const hash = hashContent(to.content(place.path));
		const same = sameSize.filter((source) => oldHash(source) === hash);
		take(place, same.find(({ path }) => baseName(path) === baseName(place.path)) ?? same[0]);
	}
}

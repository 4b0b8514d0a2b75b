import type { Config } from '../store/config.ts';

/**
 * Which of the two is ahead. `store`: the store; a live layer, if there is one, may hold anything and is made anew. `layer`:
 * the live layer of that number, which is at least as new as the store. Recovery goes in that direction only.
 */
export type Truth = { readonly side: 'store' } | { readonly side: 'layer'; readonly number: number };

/** Reads what the store says; inside a read or a write of it. */
export function readTruth(config: Config): Truth {
	const text = config.get('truth') ?? 'store';
	if (text === 'store') return { side: 'store' };
	const number = /^layer (\d+)$/.exec(text)?.[1];
	if (number === undefined) throw new Error(`config.truth is '${text}'`);
	return { side: 'layer', number: Number(number) };
}

/** Writes it; inside a write of the store. */
export function writeTruth(config: Config, truth: Truth): void {
	config.set('truth', truth.side === 'store' ? 'store' : `layer ${truth.number}`);
}

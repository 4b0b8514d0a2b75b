import { realPath } from './real-path.ts';

/** `P[:Q]`: a path that exists as it stands is P alone, so that a name with a colon can be given. */
export function parseBind(text: string): { source: string; target: string | null } {
	const colon = text.indexOf(':/');
	if (colon <= 0 || realPath(text) !== null) return { source: text, target: null };
	return { source: text.slice(0, colon), target: text.slice(colon + 1) };
}

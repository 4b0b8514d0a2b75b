import { resolve } from 'node:path';
import { isWithin } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';

/** A user's path as a path below the project. Throws Refusal 'usage' for one that is outside. */
export function belowProject(given: string, basePath: string | null, cwd: string): string {
	if (basePath === null) return given.replace(/^\/+|\/+$/g, '');
	const inside = isWithin(cwd, basePath) ? cwd : basePath;
	const absolute = resolve(inside, given);
	if (!isWithin(absolute, basePath)) {
		throw new Refusal('usage', 'path-outside', `${given} is not below the project ${basePath}`, {
			hint: 'name a path in the project',
		});
	}
	return absolute === basePath ? '' : absolute.slice(basePath === '/' ? 1 : basePath.length + 1);
}

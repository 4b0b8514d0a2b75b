import picomatch from 'picomatch';
import { Refusal } from '../base/refusal.ts';

/**
 * Whether a path is selected by any of the globs; everything is when there is none. A glob that matches a directory
 * selects all that it holds. Throws Refusal `usage` for one that cannot match a path below a root.
 */
export function selectPaths(globs: readonly string[]): (path: string) => boolean {
	if (globs.length === 0) return () => true;
	const matchers = globs.map((glob) => picomatch(checked(glob), { dot: true }));
	return (path) => {
		for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
			const part = path.slice(0, end);
			if (matchers.some((matches) => matches(part))) return true;
		}
		return false;
	};
}

/** Without `./` in front and `/` behind, which people write. */
function checked(glob: string): string {
	const plain = glob.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
	if (plain !== '' && plain !== '.' && !plain.startsWith('/') && !plain.split('/').includes('..')) return plain;
	throw new Refusal('usage', 'bad-glob', `${JSON.stringify(glob)} matches no path of the session`, {
		hint: "paths are relative to the session's directory: --only 'src/**'",
	});
}

import { encodeName } from '../base/bytes.ts';

/**
 * A path in a patch as git writes it with core.quotePath (quote.c, quote_c_style): in double quotes with C escapes when a
 * byte of it is a control character, a quote, a backslash or above 127.
 */
export function quoteGitPath(path: string): string {
	let quoted = '';
	for (const byte of encodeName(path)) {
		const named = NAMED_ESCAPES.get(byte);
		if (named !== undefined) quoted += `\\${named}`;
		else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, '0')}`;
		else quoted += String.fromCharCode(byte);
	}
	return quoted === path ? path : `"${quoted}"`;
}

/**
 * Whether `git apply` takes a path: it refuses a patch as a whole that touches a `.git` directory, under that name or one
 * that Windows or macOS would read as it (read-cache.c, verify_path).
 */
export function isPatchablePath(path: string): boolean {
	return !path.split('/').some((part) => /^(\.git|git~1)[ .]*(:.*)?$/is.test(part));
}

const NAMED_ESCAPES: ReadonlyMap<number, string> = new Map([
	[0x07, 'a'],
	[0x08, 'b'],
	[0x09, 't'],
	[0x0a, 'n'],
	[0x0b, 'v'],
	[0x0c, 'f'],
	[0x0d, 'r'],
	[0x22, '"'],
	[0x5c, '\\'],
]);

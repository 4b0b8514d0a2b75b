import { encodeName, isUtf8Name } from '../base/bytes.ts';
import { baseName } from '../base/paths.ts';
import { Refusal } from '../base/refusal.ts';

const VALID = /^[A-Za-z0-9._-]{1,64}$/;

/** Checks an id that a user gave. Throws Refusal 'usage'. */
export function checkSessionId(id: string): string {
	if (isSessionId(id)) return id;
	throw new Refusal('usage', 'bad-session-id', `'${id}' cannot be a session's name`, {
		hint: 'use 1 to 64 letters, digits, dots, dashes and underscores, not starting with a dot',
	});
}

/** Whether a name could be a session's: letters, digits, '.', '_' and '-', at most 64, no leading dot. */
export function isSessionId(id: string): boolean {
	return VALID.test(id) && !id.startsWith('.');
}

/** The name that `quick` gives a session of this directory. */
export function sessionIdFor(directory: string): string {
	const plain = baseName(directory)
		.normalize('NFKD')
		.replace(/[^A-Za-z0-9._-]+/g, '-')
		.replace(/^[.-]+|-+$/g, '')
		.slice(0, 50);
	return plain === '' || !isUtf8Name(plain) ? `session-${pathDigits(directory)}` : plain;
}

/** The name when the plain one belongs to another directory already. */
export function distinctSessionIdFor(directory: string): string {
	return `${sessionIdFor(directory)}-${pathDigits(directory)}`;
}

/** Four hexadecimal digits that stand for a path: FNV-1a, folded. Two paths that share them are told apart by their bases. */
function pathDigits(directory: string): string {
	let hash = 0x811c9dc5;
	for (const byte of encodeName(directory)) hash = Math.imul(hash ^ byte, 0x01000193);
	return (((hash >>> 16) ^ hash) & 0xffff).toString(16).padStart(4, '0');
}

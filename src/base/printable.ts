/**
 * Text, such as a file name, on one line and so that it can do nothing to a terminal: backslash, control characters, bytes
 * that are no UTF-8 (base/bytes.ts) and the marks that change the direction of text are escaped as in C.
 */
export function printable(text: string): string {
	return text.replace(UNPRINTABLE, escapeCharacter);
}

/** The same for a sentence that may hold names, escaped already or not: backslashes stay as they are. */
export function printableSentence(text: string): string {
	return text.replace(UNPRINTABLE, (character) => (character === '\\' ? character : escapeCharacter(character)));
}

const UNPRINTABLE = /[\\\p{Cc}\p{Surrogate}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCharacter(character: string): string {
	const short = SHORT[character];
	if (short !== undefined) return short;
	const code = character.charCodeAt(0);
	if (code >= 0xdc80 && code <= 0xdcff) return hexEscape(code - 0xdc00);
	return code < 0x100 ? hexEscape(code) : `\\u${code.toString(16)}`;
}

function hexEscape(byte: number): string {
	return `\\x${byte.toString(16).padStart(2, '0')}`;
}

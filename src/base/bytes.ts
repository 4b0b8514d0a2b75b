/**
 * File names are byte strings. Here they are JavaScript strings in which each byte that is not part of valid UTF-8 is
 * the lone surrogate U+DC80 + (byte - 0x80), as Python's surrogateescape does (PEP 383). The mapping is one to one, so
 * names can be compared, joined and used as keys, and give back the very same bytes.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The string that stands for these bytes. */
export function decodeName(bytes: Uint8Array): string {
	try {
		return utf8.decode(bytes);
	} catch {
		return decodeWithEscapes(bytes);
	}
}

/** The bytes that a string from {@link decodeName} stands for. */
export function encodeName(name: string): Buffer {
	if (isWellFormed(name)) return Buffer.from(name, 'utf8');
	const parts: Buffer[] = [];
	for (const character of name) {
		const code = character.codePointAt(0) as number;
		parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code - 0xdc00) : Buffer.from(character, 'utf8'));
	}
	return Buffer.concat(parts);
}

/** Whether the name's bytes are valid UTF-8, so that it can be kept as TEXT. */
export function isUtf8Name(name: string): boolean {
	return isWellFormed(name);
}

/** The form in which node:fs takes this path without changing a byte. */
export function fsPath(path: string): string | Buffer {
	return isWellFormed(path) ? path : encodeName(path);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function isWellFormed(name: string): boolean {
	return !LONE_SURROGATE.test(name);
}

function decodeWithEscapes(bytes: Uint8Array): string {
	let text = '';
	for (let at = 0; at < bytes.length; ) {
		const length = sequenceLength(bytes, at);
		if (length === 0) {
			text += String.fromCharCode(0xdc00 + (bytes[at] as number));
			at += 1;
		} else {
			text += utf8.decode(bytes.subarray(at, at + length));
			at += length;
		}
	}
	return text;
}

/** Bytes of the valid UTF-8 sequence that starts here, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
	const first = bytes[at] as number;
	const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
	if (length === 0 || at + length > bytes.length) return 0;
	try {
		utf8.decode(bytes.subarray(at, at + length));
		return length;
	} catch {
		return 0;
	}
}

import { deflateSync } from 'node:zlib';

/**
 * The body of a "GIT binary patch" (git's diff.c, emit_binary_diff_body): the new bytes as a literal, then the old ones, so
 * that it applies in both directions.
 */
export function gitBinaryBody(before: Buffer, after: Buffer): Buffer {
	return Buffer.concat([Buffer.from('GIT binary patch\n'), literal(after), literal(before)]);
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
/** Bytes that one line carries; its first character tells how many: A to Z for 1 to 26, a to z for 27 to 52. */
const LINE_BYTES = 52;

function literal(data: Buffer): Buffer {
	const deflated = deflateSync(data);
	const lines = [`literal ${data.length}\n`];
	for (let at = 0; at < deflated.length; at += LINE_BYTES) {
		const line = deflated.subarray(at, at + LINE_BYTES);
		const mark = line.length <= 26 ? 0x40 + line.length : 0x60 + line.length - 26;
		lines.push(`${String.fromCharCode(mark)}${base85(line)}\n`);
	}
	lines.push('\n');
	return Buffer.from(lines.join(''), 'latin1');
}

/** Groups of four bytes, the last filled up with zeros, as five digits each, the highest first (base85.c). */
function base85(bytes: Buffer): string {
	let text = '';
	for (let at = 0; at < bytes.length; at += 4) {
		let group = 0;
		for (let index = 0; index < 4; index++) group = group * 256 + (bytes[at + index] ?? 0);
		let digits = '';
		for (let index = 0; index < 5; index++) {
			digits = ALPHABET.charAt(group % 85) + digits;
			group = Math.floor(group / 85);
		}
		text += digits;
	}
	return text;
}

import { readFileSync, readlinkSync } from 'node:fs';
import { decodeName } from '../base/bytes.ts';
import { Refusal } from '../base/refusal.ts';

/** What Node puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';

/** The words of the command line, byte for byte (base/bytes.ts): Node's own have lost what is not UTF-8. */
export function exactArguments(words: readonly string[]): string[] {
	if (!words.some((word) => word.includes(REPLACEMENT))) return [...words];
	const all = splitNul(readFileSync('/proc/self/cmdline'));
	return all.slice(all.length - words.length);
}

/** The current directory, byte for byte. Throws Refusal 'failed' when it was removed. */
export function exactDirectory(): string {
	const cwd = currentDirectory();
	return cwd.includes(REPLACEMENT) ? decodeName(readlinkSync('/proc/self/cwd', 'buffer')) : cwd;
}

function currentDirectory(): string {
	try {
		return process.cwd();
	} catch (error) {
		throw directoryGone(error);
	}
}

function directoryGone(cause: unknown): Refusal {
	return new Refusal('failed', 'directory-gone', 'the current directory does not exist any more', {
		hint: 'change to one that does',
		cause,
	});
}

/** The environment, byte for byte. */
export function exactEnvironment(): Record<string, string | undefined> {
	const { env } = process;
	if (!Object.values(env).some((value) => value?.includes(REPLACEMENT))) return env;
	return Object.fromEntries(
		splitNul(readFileSync('/proc/self/environ')).flatMap((setting) => {
			const equals = setting.indexOf('=', 1);
			return equals < 0 ? [] : [[setting.slice(0, equals), setting.slice(equals + 1)]];
		}),
	);
}

function splitNul(bytes: Buffer): string[] {
	const words: string[] = [];
	for (let at = 0; at < bytes.length; ) {
		const end = bytes.indexOf(0, at);
		words.push(decodeName(bytes.subarray(at, end < 0 ? bytes.length : end)));
		at = end < 0 ? bytes.length : end + 1;
	}
	return words;
}

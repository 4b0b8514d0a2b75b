import { ERRNO } from '../base/errno.ts';
import { errorCode, isDiskFull, PosixError } from '../base/posix-error.ts';
import { printableSentence } from '../base/printable.ts';
import { Refusal } from '../base/refusal.ts';
import { EXIT_BUG, EXIT_CODES } from './exit-codes.ts';

interface Streams {
	readonly json: boolean;
	readonly stdout: { write(text: string): unknown };
	readonly stderr: { write(text: string): unknown };
}

interface Told {
	readonly code: string;
	readonly message: string;
	readonly hint: string | null;
	readonly exit: number;
	readonly details?: unknown;
}

/** Tells the user why a command failed, and returns its exit code. The only place where an error becomes a code. */
export function reportError(error: unknown, { json, stdout, stderr }: Streams): number {
	const told = describe(error);
	if (json) stdout.write(`${JSON.stringify({ error: told }, null, 2)}\n`);
	if (told.exit === EXIT_BUG) {
		stderr.write(
			`dropcloth: a bug of ours: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
		);
	} else if (!json) {
		stderr.write(`dropcloth: ${printableSentence(`${told.message}${told.hint === null ? '' : ` (${told.hint})`}`)}\n`);
	}
	return told.exit;
}

function describe(error: unknown): Told {
	if (error instanceof Refusal) {
		const { code, message, hint, details } = error;
		const exit = EXIT_CODES[error.kind].code;
		return details === undefined ? { code, message, hint, exit } : { code, message, hint, exit, details };
	}
	const code = errorCode(error);
	if (isDiskFull(error)) {
		const hint = 'nothing that was committed is lost; make room and try again';
		return { code: 'disk-full', message: messageOf(error), hint, exit: EXIT_CODES.full.code };
	}
	if (code !== null && (error instanceof PosixError || (error as { syscall?: unknown }).syscall !== undefined)) {
		return {
			code: ERRNO[code][1].replaceAll(' ', '-'),
			message: messageOf(error),
			hint: null,
			exit: EXIT_CODES.failed.code,
		};
	}
	return { code: 'bug', message: messageOf(error), hint: null, exit: EXIT_BUG };
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

import type { StricliProcess } from '@stricli/core';

/** What the argument parser takes for the process. It writes to stderr only what it has against a command line. */
export interface ParserProcess extends StricliProcess {
	/** What it had to say, without the last newline. */
	complaint(): string;
}

/** Our process, with the parser's complaints kept back, so that they are told as every other refusal is. */
export function parserProcess(): ParserProcess {
	let complaint = '';
	return {
		// asked for when it is written to: making the stream costs a start something
		get stdout() {
			return process.stdout;
		},
		stderr: {
			write(text: string) {
				complaint += text;
			},
		},
		get exitCode() {
			return process.exitCode ?? null;
		},
		set exitCode(code) {
			process.exitCode = code ?? undefined;
		},
		complaint: () => complaint.trimEnd(),
	};
}

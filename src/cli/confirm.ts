import { createInterface, type Interface } from 'node:readline/promises';
import { Refusal } from '../base/refusal.ts';
import type { CliContext } from './context.ts';

/**
 * Goes on only when the user says so: by --yes, or by an answer at the terminal. Throws Refusal 'usage' when nobody can be
 * asked, 'failed' when the answer is no.
 */
export async function confirm(cli: CliContext, yes: boolean, question: string): Promise<void> {
	if (yes) return;
	if (!cli.canAsk) {
		const what = `"${question}?" needs a yes, and there is no terminal to ask at`;
		throw new Refusal('usage', 'confirmation-needed', what, { hint: 'give --yes' });
	}
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	try {
		const answer = await ask(terminal, `${question}? [y/N] `);
		if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('failed', 'declined', 'nothing was changed');
	} finally {
		terminal.close();
	}
}

/** Ctrl-C and the end of input are a no. */
async function ask(terminal: Interface, question: string): Promise<string> {
	try {
		return await terminal.question(question);
	} catch (error) {
		if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
		process.stderr.write('\n');
		return '';
	}
}

import { run } from '@stricli/core';
import { applicationWith } from '../../src/cli/application.ts';
import { CATALOG } from '../../src/cli/catalog.ts';
import type { CommandName } from '../../src/cli/commands.ts';
import { givenFlags } from '../../src/cli/context.ts';
import type { Ran } from './accounts.ts';

/** Where a command line is given. */
export interface Surroundings {
	readonly cwd: string;
	readonly home: string;
	readonly storePath: string;
}

/**
 * Runs one command line of the program within this process, a bundled one with the built launcher: for tests that give
 * hundreds.
 */
export async function invoke(words: readonly string[], { cwd, home, storePath }: Surroundings): Promise<Ran> {
	const end = words.indexOf('--');
	const own = end < 0 ? words : words.slice(0, end);
	let stdout = '';
	let stderr = '';
	const streams = {
		stdout: { write: (text: string) => (stdout += text) },
		stderr: { write: (text: string) => (stderr += text) },
		exitCode: undefined as number | string | undefined | null,
	};
	await run(await applicationWith([own[0] as CommandName]), own, {
		process: streams,
		messages: streams.stderr,
		env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, SHELL: '/bin/sh' },
		cwd,
		home,
		storePath,
		command: end < 0 ? null : words.slice(end + 1),
		given: givenFlags(own),
		canAsk: false,
		catalog: CATALOG,
	} as never);
	return { stdout, stderr, code: Number(streams.exitCode ?? 0), signal: null };
}

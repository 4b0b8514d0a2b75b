import { writeSync } from 'node:fs';
import { encodeName, isUtf8Name } from '../base/bytes.ts';
import { errorCode, PosixError } from '../base/posix-error.ts';
import type { Plan } from './plan-writer.ts';

/**
 * Writes a plan for the launcher into an open file of this directory, with the variables of the environment that Node cannot
 * hand over. At a position: the launcher shares the file's offset, and reads from the start.
 */
export function writePlan(
	fd: number,
	plan: Plan,
	environment: Readonly<Record<string, string>>,
	directory: string,
): void {
	const bytes = encodePlan(plan, environment);
	try {
		for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
	} catch (error) {
		const code = errorCode(error);
		throw code === null ? error : new PosixError(code, 'write a file in', directory, error);
	}
}

function encodePlan({ operations }: Plan, environment: Readonly<Record<string, string>>): Buffer {
	const beforeExec = [...operations.slice(0, -1), ...exactVariables(environment), ...operations.slice(-1)];
	const words = ['plan 1', ...beforeExec.flat()];
	const nul = words.find((word) => word.includes('\0'));
	if (nul !== undefined) throw new Error(`a word of the plan holds a NUL: ${JSON.stringify(nul)}`);
	return encodeName(`${words.join('\0')}\0`);
}

/** Node hands an environment over as UTF-8 alone: the values that are none go into the plan. */
function exactVariables(environment: Readonly<Record<string, string>>): string[][] {
	return Object.entries(environment)
		.filter(([, value]) => !isUtf8Name(value))
		.map(([name, value]) => ['setenv', `${name}=${value}`]);
}

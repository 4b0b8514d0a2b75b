/** A step of the plan that the launcher could not do. */
export interface LaunchFailure {
	/** Index in the plan's operations. */
	readonly index: number;
	readonly errno: number;
	readonly operation: string;
	/** What it was done to, control characters replaced. */
	readonly text: string;
	/** What the kernel said about it, or null: it says nothing in most cases. */
	readonly kernelText: string | null;
}

/** What the launcher has told so far. */
export interface Report {
	/** Process id of the sandbox's PID 1, as the caller sees it. */
	readonly init: number | null;
	/** All mounts are made, or those of a running sandbox entered; the command is about to run. */
	readonly ready: boolean;
	readonly failure: LaunchFailure | null;
	/** The command could not be executed: the error number of execve. */
	readonly execErrno: number | null;
	readonly exit: number | null;
	readonly signal: number | null;
	/** How many joined commands went on when the command ended; null when none did. */
	readonly waiting: number | null;
}

/** Reads the launcher's lines. Two processes write them, so that their order says nothing. */
export function parseReport(text: string): Report {
	const number = (pattern: RegExp) => {
		const match = pattern.exec(text);
		return match === null ? null : Number(match[1]);
	};
	return {
		init: number(/^init (\d+)$/m),
		ready: /^(layers \w+|started)$/m.test(text),
		failure: parseFailure(text),
		execErrno: number(/^exec-failed (\d+)$/m),
		exit: number(/^exit (\d+)$/m),
		signal: number(/^signal (\d+)$/m),
		waiting: number(/^waiting (\d+)$/m),
	};
}

function parseFailure(text: string): LaunchFailure | null {
	const match = /^fail (\d+) (\d+) (\S+) ?(.*)$/m.exec(text);
	if (match === null) return null;
	const [, index, errno, operation = '', rest = ''] = match;
	const bar = rest.lastIndexOf(' | ');
	return {
		index: Number(index),
		errno: Number(errno),
		operation,
		text: bar < 0 ? rest : rest.slice(0, bar),
		kernelText: bar < 0 ? null : rest.slice(bar + 3),
	};
}

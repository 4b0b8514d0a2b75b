import { isatty } from 'node:tty';
import { ERRNO, errnoCode } from '../base/errno.ts';
import { printable } from '../base/printable.ts';
import { chooseBackend } from '../sandbox/backend.ts';
import type { Outcome } from '../sandbox/launch.ts';
import { showBinds } from '../sandbox/show-binds.ts';
import { forwardSignals } from '../sandbox/signals.ts';
import type { EndReason } from '../session/early-end.ts';
import { runOrJoin } from '../session/run-or-join.ts';
import type { RunOutcome } from '../session/run-request.ts';
import type { RunTarget } from '../session/run-target.ts';
import type { Answer, Invocation } from './command.ts';
import { EXIT_CODES, EXIT_TIMEOUT } from './exit-codes.ts';
import { INSTALLED, LAUNCHER } from './package-paths.ts';
import { parseNetwork } from './parse-network.ts';
import { type SandboxFlags, sandboxRequest } from './sandbox-options.ts';
import { sandboxSettings } from './sandbox-settings.ts';

/** Runs what stands after `--`, or the user's shell, and ends with its exit code. `cwd` is where it starts. */
export async function runCommand(
	invocation: Invocation<SandboxFlags>,
	target: RunTarget,
	cwd?: string,
): Promise<Answer | number> {
	const { flags, storePath, warn } = invocation;
	const backend = chooseBackend(flags.mountBackend);
	const cli = cwd === undefined ? invocation.cli : { ...invocation.cli, cwd };
	const command = cli.command === null || cli.command.length === 0 ? [cli.env['SHELL'] || '/bin/sh'] : cli.command;
	const network = await parseNetwork(flags.net);
	const outcome = await runOrJoin({
		target,
		...sandboxRequest(cli, flags, { storePath, command, installed: INSTALLED, network }),
		settings: sandboxSettings(cli, flags),
		launcher: LAUNCHER,
		notify: warn,
		onPlan(plan) {
			if (flags.showBinds) cli.messages.write(showBinds(plan, backend));
		},
		onJoin({ pid, argv }) {
			if (!flags.showBinds) return;
			const what = `joins session ${target.place.id}: process ${pid} runs ${argv.join(' ')} in it`;
			cli.messages.write(`${printable(what)}; its mounts are those of that run\n`);
		},
		onWaiting: (stop) => void process.on('SIGINT', stop),
		onLaunch: (launched) => forwardSignals(launched, isatty(0)),
	});
	if (outcome.outcome.kind === 'not-executed') warn(notExecuted(command[0] as string, outcome.outcome));
	if (flags.onExit !== 'keep' && !outcome.joined) {
		const { onExit } = await import('./on-exit.ts');
		await onExit(flags.onExit, target, outcome.trace.run, warn);
	}
	return answer(flags, target, outcome);
}

function notExecuted(name: string, { code, errno }: { code: 126 | 127; errno: number }): string {
	return `${name}: ${code === 127 ? 'command not found' : `cannot be executed: ${ERRNO[errnoCode(errno)][1]}`}`;
}

function answer(
	{ json }: SandboxFlags & { json: boolean },
	{ place }: RunTarget,
	{ outcome, trace, joined, endedFor }: RunOutcome,
): Answer | number {
	const code = endedFor === null ? codeOf(outcome) : ENDED[endedFor];
	return json ? { json: { sessionId: place.id, exit: code, ...trace, joined }, text: '', exit: code } : code;
}

const ENDED: Readonly<Record<EndReason, number>> = { timeout: EXIT_TIMEOUT, quota: EXIT_CODES.full.code };

function codeOf(outcome: Outcome): number {
	return outcome.kind === 'killed' ? 128 + outcome.signal : outcome.kind === 'failed' ? 1 : outcome.code;
}

import type { SessionRig } from './session-rig.ts';
import { Terminal } from './terminal.ts';

/** An interactive shell outside, on a terminal and in the project, in which `dropcloth` is a function. */
export async function outerShell({ cli, project }: SessionRig): Promise<Terminal> {
	const env = { PS1: 'OUT> ', HOME: cli.account.home, DROPCLOTH_HOME: cli.storePath };
	const command = ['bash', '--norc', '--noprofile', '--noediting', '-i'];
	const terminal = new Terminal(cli.account, command, env);
	await terminal.shown(/OUT> /);
	terminal.type(`dropcloth() { '${process.execPath}' '${cli.program}' "$@"; }; unset HISTFILE; cd '${project}'\n`);
	await terminal.shown(/OUT> $/);
	return terminal;
}

import type { Command } from '@stricli/core';
import { type AnyCommand, stricliCommand } from './command.ts';
import type { CliContext } from './context.ts';

/** Every command and where it lives, in the order of the manual. A command's module is loaded when it is asked for. */
export const COMMANDS = {
	quick: async () => (await import('./quick.ts')).quick,
	init: async () => (await import('./init.ts')).init,
	attach: async () => (await import('./attach.ts')).attach,
	detach: async () => (await import('./detach.ts')).detach,
	run: async () => (await import('./run.ts')).run,
	stop: async () => (await import('./stop.ts')).stop,
	discard: async () => (await import('./discard.ts')).discard,
	snap: async () => (await import('./snap.ts')).snap,
	checkpoint: async () => (await import('./checkpoint.ts')).checkpoint,
	list: async () => (await import('./list.ts')).list,
	log: async () => (await import('./log.ts')).log,
	show: async () => (await import('./show.ts')).show,
	diff: async () => (await import('./diff.ts')).diff,
	restore: async () => (await import('./restore.ts')).restore,
	undo: async () => (await import('./undo.ts')).undo,
	redo: async () => (await import('./redo.ts')).redo,
	apply: async () => (await import('./apply.ts')).apply,
	status: async () => (await import('./status.ts')).status,
	ps: async () => (await import('./ps.ts')).ps,
	gc: async () => (await import('./gc.ts')).gc,
	doctor: async () => (await import('./doctor.ts')).doctor,
	version: async () => (await import('./version.ts')).version,
	completion: async () => (await import('./completion.ts')).completion,
	help: async () => (await import('./help.ts')).help,
} as const satisfies Record<string, () => Promise<unknown>>;

export type CommandName = keyof typeof COMMANDS;

/** Loads one command for the argument parser. */
export async function loadCommand(name: CommandName): Promise<Command<CliContext>> {
	return stricliCommand(await loadDefinition(name));
}

/** Loads one command's definition. */
export async function loadDefinition(name: CommandName): Promise<AnyCommand> {
	return (await COMMANDS[name]()) as unknown as AnyCommand;
}

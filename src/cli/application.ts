import { type Application, buildApplication, buildRouteMap } from '@stricli/core';
import { type CommandName, loadCommand } from './commands.ts';
import type { CliContext } from './context.ts';
import { VERSION } from './version-facts.ts';

/** The argument parser with the given commands in it: only those are loaded. */
export async function applicationWith(names: readonly CommandName[]): Promise<Application<CliContext>> {
	const loaded = await Promise.all(names.map(async (name) => [name, await loadCommand(name)] as const));
	const root = buildRouteMap({
		routes: Object.fromEntries(loaded),
		docs: { brief: 'Lets an AI agent loose on a directory without risk' },
	});
	return buildApplication<CliContext>(root, {
		name: 'dropcloth',
		versionInfo: { currentVersion: VERSION },
		scanner: { caseStyle: 'allow-kebab-for-camel' },
		documentation: { caseStyle: 'convert-camel-to-kebab', disableAnsiColor: true },
	});
}

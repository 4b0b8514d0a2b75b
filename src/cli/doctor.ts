import { printable } from '../base/printable.ts';
import { examineMachine } from '../session/doctor.ts';
import type { Finding } from '../session/finding.ts';
import type { CommandDefinition } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { table } from './format.ts';
import { INSTALLED, LAUNCHER } from './package-paths.ts';

/** What this machine can do. */
export const doctor: CommandDefinition<object, []> = {
	brief: 'Check what this machine can do, with a remedy for what it cannot',
	details:
		'Mounts a real sandbox over the current directory, and tries to get out of one (the checks escape-…). Exit code 4 when a run would not work, or would not hold.',
	examples: ['doctor', 'doctor --json'],
	flags: {},
	positional: [],
	async run({ cli, storePath }) {
		const findings = await examineMachine({
			storePath,
			basePath: cli.cwd,
			home: cli.home,
			environment: cli.env,
			installed: INSTALLED,
			launcher: LAUNCHER,
		});
		const json = findings.map(({ check, ok, detail, remedy }) => ({ check, ok, detail, remedy }));
		return {
			json,
			text: table(findings.map(row)),
			exit: findings.some(({ ok, needed }) => needed && !ok) ? EXIT_CODES.sandbox.code : 0,
		};
	},
};

function row({ check, ok, needed, detail, remedy }: Finding): string[] {
	const mark = ok ? 'ok' : needed ? 'FAIL' : 'missing';
	return [mark, check, printable(remedy === null ? detail : `${detail}: ${remedy}`)];
}

import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from './support/source-files.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

/** Sources that each break one rule which this project counts on; a rule that never fires is no rule. */
const OFFENCES: Readonly<Record<string, { file: string; text: string }>> = {
	noFloatingPromises: { file: 'floating.ts', text: 'async function later(): Promise<void> {}\nlater();\n' },
	useExhaustiveSwitchCases: {
		file: 'switch.ts',
		text: "export function one(kind: 'a' | 'b'): void {\n\tswitch (kind) {\n\t\tcase 'a':\n\t\t\tbreak;\n\t}\n}\n",
	},
	useErrorCause: {
		file: 'cause.ts',
		text: "export function lost(): void {\n\ttry {\n\t\tlost();\n\t} catch (error) {\n\t\tthrow new Error('lost');\n\t}\n}\n",
	},
	noImportCycles: { file: 'cycle.ts', text: "import { other } from './cycle-two.ts';\nexport const one = other;\n" },
	useFilenamingConvention: { file: 'CamelCase.ts', text: 'export const x = 1;\n' },
	noDefaultExport: { file: 'default.ts', text: 'export default 1;\n' },
	noBarrelFile: { file: 'barrel.ts', text: "export * from './cycle.ts';\n" },
	noExplicitAny: { file: 'any.ts', text: 'export const x = (y: any) => y;\n' },
	noNonNullAssertion: { file: 'non-null.ts', text: 'export const x = (y: string | null) => y!;\n' },
	noEnum: { file: 'enum.ts', text: 'export enum Kind {\n\tA,\n}\n' },
};

test('the linter refuses what the house rules forbid', () => {
	using place = temporaryDirectory();
	for (const name of ['biome.json', 'tsconfig.json']) copyFileSync(join(PROJECT, name), place.join(name));
	for (const { file, text } of Object.values(OFFENCES)) place.write(`src/${file}`, text);
	place.write('src/cycle-two.ts', "import { one } from './cycle.ts';\nexport const other = one;\n");
	spawnSync('git', ['init', '--quiet', place.path]);
	const biome = join(PROJECT, 'node_modules/.bin/biome');
	const { stdout, stderr } = spawnSync(biome, ['ci', '--reporter=json', '--colors=off', '--max-diagnostics=none'], {
		cwd: place.path,
		encoding: 'utf8',
	});
	const { diagnostics } = JSON.parse(stdout) as { diagnostics: { severity: string; category: string }[] };
	const errors = diagnostics
		.filter(({ severity }) => severity === 'error')
		.map(({ category }) => category.split('/').pop());
	expect(
		Object.keys(OFFENCES).filter((rule) => !errors.includes(rule)),
		stderr,
	).toEqual([]);
});

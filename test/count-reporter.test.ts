import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from './support/source-files.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const CONFIG = `
import { CountReporter } from ${JSON.stringify(join(PROJECT, 'test/support/count-reporter.ts'))};
export default { test: { globals: true, reporters: [new CountReporter()] } };
`;

/** Runs these tests with the reporter, and gives the report's last lines and the exit code. */
function report(tests: string, ci: boolean): { lines: string[]; code: number | null } {
	// below node_modules, so that vitest itself is found from there
	using place = temporaryDirectory(join(PROJECT, 'node_modules'));
	place.write('vitest.config.ts', CONFIG);
	place.write('planted.test.ts', tests);
	const args = [join(PROJECT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', place.path];
	const env = { PATH: process.env['PATH'], NO_COLOR: '1', CI: ci ? 'true' : 'false' };
	const { stdout, status } = spawnSync(process.execPath, args, { cwd: place.path, env, encoding: 'utf8' });
	return { lines: stdout.trimEnd().split('\n').slice(-3), code: status };
}

describe('the closing report', () => {
	test('counts, on the very last line', () => {
		const { lines, code } = report(
			"test('a', () => {}); test('b', () => {}); test('c', () => expect(1).toBe(2));",
			false,
		);
		expect(lines.at(-1)).toBe('2 passed, 1 failed, 0 skipped');
		expect(code).toBe(1);
	});

	test('counts a file that does not load as failed', () => {
		const { lines, code } = report("import './missing.ts';", false);
		expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
		expect(code).toBe(1);
	});

	test('gives the reason of a skip, and fails for it in CI alone', () => {
		const tests = "test('a', () => {}); test('b', (context) => context.skip('needs a moon'));";
		const here = report(tests, false);
		expect(here.lines.slice(-2)).toEqual(['skipped: b: needs a moon', '1 passed, 0 failed, 1 skipped']);
		expect(here.code).toBe(0);
		expect(report(tests, true).code).toBe(1);
	});

	test('fails everywhere for a skip without a reason', () => {
		const { lines, code } = report("test('a', () => {}); test.skip('b', () => {});", false);
		expect(lines.slice(-2)).toEqual(['skipped: b: NO REASON GIVEN', '1 passed, 0 failed, 1 skipped']);
		expect(code).toBe(1);
	});
});

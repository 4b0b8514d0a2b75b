import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { CountReporter } from './test/support/count-reporter.ts';

/**
 * `vitest run` runs everything but the long suites, which `--mode long` runs instead. Only the tests that drive the built
 * command line are preceded by a build.
 */
export default defineConfig(({ mode }): ViteUserConfig => {
	const long = mode === 'long';
	const shared = { pool: 'forks', testTimeout: long ? 3_600_000 : 60_000, hookTimeout: 120_000 } as const;
	const suffix = long ? '.long.test.ts' : '.test.ts';
	const exclude = long ? [] : ['**/*.long.test.ts'];
	const unitExclude = [...exclude, 'test/cli/**'];
	const build = ['test/support/build-when-stale.ts'];
	return {
		test: {
			reporters: [new CountReporter()],
			projects: [
				{
					test: { ...shared, name: 'unit', include: [`src/**/*${suffix}`, `test/**/*${suffix}`], exclude: unitExclude },
				},
				{ test: { ...shared, name: 'built', include: [`test/cli/**/*${suffix}`], exclude, globalSetup: build } },
			],
		},
	};
});

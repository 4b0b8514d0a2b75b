import type { SerializedError } from 'vitest';
import { DefaultReporter, type TestCase, type TestModule, type TestRunEndReason } from 'vitest/node';

/** Outcomes of one run; a file that does not load and an error outside every test count as failed. */
export interface Counts {
	passed: number;
	failed: number;
	skipped: number;
}

/**
 * Vitest's own report, then why each test was skipped, and as the very last line `N passed, N failed, N skipped`.
 * A skip without a reason fails the run everywhere, any skip fails it in CI: a suite that tests nothing must not be green.
 */
export class CountReporter extends DefaultReporter {
	override onTestRunEnd(
		modules: readonly TestModule[],
		errors: readonly SerializedError[],
		reason: TestRunEndReason,
	): void {
		super.onTestRunEnd(modules, errors, reason);
		const tests = modules.flatMap((module) => [...module.children.allTests()]);
		const skipped = tests.filter((test) => test.result().state === 'skipped' && !isDeselected(test));
		for (const test of skipped) this.log(`skipped: ${test.fullName}: ${skipReason(test) ?? 'NO REASON GIVEN'}`);
		if (skipped.some((test) => skipReason(test) === null)) process.exitCode = 1;
		if (skipped.length > 0 && process.env['CI'] === 'true') {
			this.log('CI=true: a skipped test fails the run');
			process.exitCode = 1;
		}
		const counts = countOutcomes(modules, errors, tests, skipped.length);
		this.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
	}
}

function countOutcomes(
	modules: readonly TestModule[],
	errors: readonly SerializedError[],
	tests: readonly TestCase[],
	skipped: number,
): Counts {
	const failedTests = tests.filter((test) => test.result().state === 'failed').length;
	const brokenModules = modules.filter((module) => module.errors().length > 0).length;
	return {
		passed: tests.filter((test) => test.result().state === 'passed').length,
		failed: failedTests + brokenModules + errors.length,
		skipped,
	};
}

/** Left out by `-t NAME` or a line number: the caller's wish, not a gap in the suite. */
function isDeselected(test: TestCase): boolean {
	return test.project.vitest.config.testNamePattern !== undefined && skipReason(test) === null;
}

function skipReason(test: TestCase): string | null {
	const result = test.result();
	return result.state === 'skipped' ? (result.note ?? null) : null;
}

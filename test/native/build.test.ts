import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROJECT } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const TARGETS = [
	{ arch: 'x64', machine: 62, compiler: 'x86_64-linux-gnu-gcc' },
	{ arch: 'arm64', machine: 183, compiler: 'aarch64-linux-gnu-gcc' },
] as const;

describe('building the launcher', () => {
	let place: TemporaryDirectory;
	beforeEach(() => {
		place = temporaryDirectory();
	});
	afterEach(() => place[Symbol.dispose]());

	const build = (args: readonly string[], env: Record<string, string> = {}) =>
		spawnSync(process.execPath, [`${PROJECT}/tools/build-native.mjs`, ...args], {
			env: { ...process.env, ...env },
			encoding: 'utf8',
		});

	test.for(TARGETS)('$arch: a static program without a C library', ({ arch, machine, compiler }, context) => {
		const built = build([place.path, arch]);
		expect(built).toMatchObject({ status: 0, stderr: '' });
		if (built.stdout.includes('not built')) context.skip(`there is no ${compiler} here`);
		const program = readFileSync(place.join(`launch-${arch}`));
		expect(program.readUInt16LE(18)).toBe(machine);
		expect(programHeaderTypes(program)).not.toContain(PT_INTERP);
		expect(programHeaderTypes(program)).not.toContain(PT_DYNAMIC);
		expect(program.length).toBeLessThan(100_000);
	});

	test('a missing compiler for this machine is an error with one line', () => {
		const built = build([place.path, process.arch], { CC: 'no-such-compiler' });
		expect(built.status).toBe(1);
		expect(built.stderr).toBe(`launch-${process.arch}: no C compiler (no-such-compiler; set CC for another)\n`);
	});
});

const PT_DYNAMIC = 2;
const PT_INTERP = 3;

/** The types of an ELF file's program headers, elf(5). */
function programHeaderTypes(program: Buffer): number[] {
	const start = Number(program.readBigUInt64LE(32));
	const size = program.readUInt16LE(54);
	return Array.from({ length: program.readUInt16LE(56) }, (_, index) => program.readUInt32LE(start + index * size));
}

// Builds native/ into dist/native/launch-x64 and launch-arm64: for this machine, and for the other one when its cross
// compiler is there. Exits 1 when this machine's cannot be built or any compiler complains.
//   node tools/build-native.mjs [OUTPUT_DIRECTORY [x64|arm64]]
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [, , out = join(root, 'dist/native'), only] = process.argv;

const FLAGS = '-std=c11 -O2 -Wall -Wextra -Werror -nostdlib -static -ffreestanding -fno-stack-protector -s'.split(' ');
const TARGETS = [
	{ arch: 'x64', cross: 'x86_64-linux-gnu-gcc' },
	{ arch: 'arm64', cross: 'aarch64-linux-gnu-gcc' },
];

const sources = readdirSync(join(root, 'native'))
	.filter((name) => name.endsWith('.c'))
	.sort()
	.map((name) => join(root, 'native', name));

mkdirSync(out, { recursive: true });
for (const { arch, cross } of TARGETS.filter((target) => only === undefined || target.arch === only)) {
	const own = arch === process.arch;
	const compiler = own ? (process.env.CC ?? 'cc') : cross;
	const binary = join(out, `launch-${arch}`);
	const fresh = `${binary}.${process.pid}`;
	const result = spawnSync(compiler, [...FLAGS, '-o', fresh, ...sources], { stdio: ['ignore', 'inherit', 'inherit'] });
	const missing = result.error?.code === 'ENOENT';
	if (result.status === 0) {
		renameSync(fresh, binary); // in place of one that may be running
		console.log(`launch-${arch}: built by ${compiler}`);
	} else if (missing && !own) {
		console.log(`launch-${arch}: not built, there is no ${compiler} here`);
	} else {
		console.error(
			`launch-${arch}: ${missing ? 'no C compiler' : 'the compiler failed'} (${compiler}; set CC for another)`,
		);
		process.exitCode = 1;
	}
}

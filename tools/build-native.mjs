// Builds native/ into dist/native/launch-x64 and launch-arm64: for this machine, and for the other one when its cross
// compiler is there. Exits 1 when this machine's cannot be built or any compiler complains.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'native');
const out = join(root, 'dist/native');

const FLAGS = '-std=c11 -O2 -Wall -Wextra -Werror -nostdlib -static -ffreestanding -fno-stack-protector'.split(' ');
const TARGETS = [
	{ arch: 'x64', cross: 'x86_64-linux-gnu-gcc' },
	{ arch: 'arm64', cross: 'aarch64-linux-gnu-gcc' },
];

mkdirSync(out, { recursive: true });
const files = readdirSync(source)
	.filter((name) => name.endsWith('.c'))
	.sort()
	.map((name) => join(source, name));

for (const { arch, cross } of TARGETS) {
	const own = arch === process.arch;
	const compiler = own ? (process.env.CC ?? 'cc') : cross;
	const binary = join(out, `launch-${arch}`);
	const fresh = `${binary}.${process.pid}`;
	const result = spawnSync(compiler, [...FLAGS, '-s', '-o', fresh, ...files], {
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	if (result.status === 0) {
		renameSync(fresh, binary); // one that runs stays as it is
		console.log(`launch-${arch}: built by ${compiler}`);
	} else if (result.error?.code === 'ENOENT' && !own) {
		console.log(`launch-${arch}: not built, there is no ${compiler} here`);
	} else {
		const reason = result.error?.code === 'ENOENT' ? 'a C compiler is needed' : 'the compiler failed';
		console.error(`launch-${arch}: ${reason} (${compiler}; set CC for another one)`);
		process.exitCode = 1;
	}
}

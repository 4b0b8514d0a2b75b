import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import type { BenchOptions, Figure, Skipped } from './harness/benchmark.ts';
import { callDropcloth, shellInside } from './harness/dropcloth.ts';
import { benchPlace, type Place } from './harness/place.ts';
import { hostShell } from './harness/shell.ts';

const CRATES = 12;
const EDITED = 6;
const FUNCTIONS = 120;

/** Incremental builds of a workspace in the middle of which one crate is edited, inside and outside in turn. */
export async function cargoBuild({ full, note }: BenchOptions): Promise<Figure[] | Skipped> {
	const cargo = cargoPath();
	if (cargo === null) return { skipped: 'there is no cargo here' };
	using place = benchPlace();
	const build = `PATH='${dirname(cargo)}':$PATH CARGO_HOME="$HOME/cargo" cargo build --quiet --offline`;
	const native = place.join('native');
	for (const name of ['project', 'native']) writeWorkspace(place, name);
	await using outside = hostShell({ cwd: native, env: place.env });
	await outside.run(`${build}; cd ../project; ${build}; cd ../native`);
	const first: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] };
	const later: typeof first = { ours: [], theirs: [] };
	let edit = 0;
	for (let session = 0; session < (full ? 7 : 3); session++) {
		await using inside = shellInside(place);
		for (let round = 0; round < (full ? 7 : 5); round++) {
			const script = `${editing(++edit)}; ${build}`;
			const samples = round === 0 ? first : later;
			samples.ours.push(await inside.time(script));
			samples.theirs.push(await outside.time(script));
		}
		await inside[Symbol.asyncDispose]();
		callDropcloth(place, ['discard', 'project', '--yes']);
		note(`session ${session + 1} done`);
	}
	const common = { unit: 'ms', against: 'the same on the host' } as const;
	return [
		{
			...common,
			name: 'cargo-build/first',
			what: `the first incremental build inside, ${CRATES} crates, one edited: copies up`,
			...first,
			goal: { kind: 'ratio', value: 1.07 },
		},
		{
			...common,
			name: 'cargo-build/later',
			what: 'the second and later ones',
			...later,
			goal: { kind: 'ratio', value: 1.02 },
		},
	];
}

/** The toolchain's own program: what rustup puts before it looks at the user's home, which is another one here. */
function cargoPath(): string | null {
	for (const [program, ...args] of [
		['rustup', 'which', 'cargo', '--toolchain', 'stable'],
		['sh', '-c', 'command -v cargo'],
	] as const) {
		try {
			return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
		} catch (error) {
			if (!(error instanceof Error)) throw error;
		}
	}
	return null;
}

/** Gives the edited crate another constant. */
function editing(value: number): string {
	return `sed -i 's/EDITED: u64 = .*;/EDITED: u64 = ${value};/' c${EDITED}/src/lib.rs`;
}

function writeWorkspace(place: Place, name: string): void {
	const crates = Array.from({ length: CRATES }, (_, index) => index + 1);
	const members = crates.map((crate) => `"c${crate}"`).join(', ');
	place.write(`${name}/Cargo.toml`, `[workspace]\nresolver = "2"\nmembers = [${members}]\n`);
	for (const crate of crates) {
		const needs = crate === 1 ? '' : `c${crate - 1} = { path = "../c${crate - 1}" }\n`;
		const head = `[package]\nname = "c${crate}"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n`;
		place.write(`${name}/c${crate}/Cargo.toml`, head + needs);
		place.write(`${name}/c${crate}/src/lib.rs`, crateSource(crate));
	}
}

function crateSource(crate: number): string {
	const below = crate === 1 ? '1' : `c${crate - 1}::f0(x)`;
	const functions = Array.from({ length: FUNCTIONS }, (_, index) =>
		[
			`pub fn f${index}(x: u64) -> u64 {`,
			`\tlet mut all: Vec<u64> = (0..x).map(|i| i * ${index} + EDITED).collect();`,
			'\tall.sort_by(|a, b| b.cmp(a));',
			`\tformat!("{:?}{}", all, ${index === 0 ? below : `f${index - 1}(x)`}).len() as u64`,
			'}',
		].join('\n'),
	);
	return `pub const EDITED: u64 = 0;\n${functions.join('\n')}\n`;
}

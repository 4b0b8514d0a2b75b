import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ordinaryAccount } from './accounts.ts';
import { PROJECT } from './source-files.ts';

declare module 'vitest' {
	export interface ProvidedContext {
		/** Absolute path of the built program, where every account can read it. */
		program: string;
	}
}

const PROGRAM = 'dist/bin/dropcloth.cjs';
/** Where a copy is laid when the clone itself lies below a private directory. Not /tmp, which a sandbox hides. */
const COPIES = '/var/lib/dropcloth-test';

/** Vitest's global setup of the tests that run the built program: builds when a source is newer than the build. */
export function setup({ provide }: TestProject): (() => void) | undefined {
	execFileSync(join(PROJECT, 'tools/prepare'), { stdio: ['ignore', 'inherit', 'inherit'] });
	const program = join(PROJECT, PROGRAM);
	if (ordinaryAccount().run(['test', '-r', program], { cwd: '/' }).code === 0) {
		provide('program', program);
		return undefined;
	}
	const copy = copyOfBuild();
	provide('program', join(copy, PROGRAM));
	return () => rmSync(copy, { recursive: true, force: true });
}

/** The build and the packages it needs at run time, readable by everyone. */
function copyOfBuild(): string {
	mkdirSync(COPIES, { recursive: true, mode: 0o755 });
	const place = mkdtempSync(join(COPIES, 'build-'));
	const packages = runtimePackages().filter((path) => existsSync(join(PROJECT, path)));
	for (const path of ['dist', 'package.json', ...packages]) {
		cpSync(join(PROJECT, path), join(place, path), { recursive: true });
	}
	execFileSync('chmod', ['-R', 'a+rX', place]);
	return place;
}

function runtimePackages(): string[] {
	const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
		packages: Record<string, { dev?: boolean }>;
	};
	// SQLite for Node 20 is a development dependency here and shipped within dist in the published package
	const isNeeded = (path: string) => packages[path]?.dev !== true || path.endsWith('/sqlite-mc-legacy');
	return Object.keys(packages).filter((path) => path !== '' && isNeeded(path));
}

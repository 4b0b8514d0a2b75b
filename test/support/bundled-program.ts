import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'vite';

/** A program of the tests as one file that plain Node runs, for children that are started by the dozen. */
export interface BundledProgram extends AsyncDisposable {
	readonly path: string;
}

/** Bundles a TypeScript program, with a path from the repository's root; installed packages stay outside. */
export async function bundledProgram(source: string): Promise<BundledProgram> {
	const cache = resolve('node_modules/.cache');
	mkdirSync(cache, { recursive: true });
	const outDir = mkdtempSync(join(cache, 'dropcloth-test-'));
	await build({
		configFile: false,
		logLevel: 'error',
		build: {
			ssr: resolve(source),
			outDir,
			target: 'node20',
			rollupOptions: { output: { entryFileNames: '[name].mjs' } },
		},
	});
	return {
		path: join(outDir, basename(source).replace(/\.ts$/, '.mjs')),
		[Symbol.asyncDispose]: async () => rmSync(outDir, { recursive: true, force: true }),
	};
}

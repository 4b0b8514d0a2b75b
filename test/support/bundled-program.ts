import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'vite';

/** A program of the tests as one file that plain Node runs, for children that are started by the dozen. */
export interface BundledProgram extends AsyncDisposable {
	readonly path: string;
}

/** Bundles a TypeScript program, with a path from the repository's root; installed packages stay outside. */
export async function bundledProgram(source: string): Promise<BundledProgram> {
	// as deep below the root as the built program: the launcher is found from there
	const outDir = mkdtempSync(resolve('node_modules/.dropcloth-test-'));
	await build({
		configFile: false,
		logLevel: 'error',
		build: {
			ssr: resolve(source),
			outDir,
			target: 'node20',
			rollupOptions: { output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' } },
		},
	});
	return {
		path: join(outDir, basename(source).replace(/\.ts$/, '.mjs')),
		[Symbol.asyncDispose]: async () => rmSync(outDir, { recursive: true, force: true }),
	};
}

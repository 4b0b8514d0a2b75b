// Runs a TypeScript program of this repository on any Node that we support: node tools/run-ts.mjs FILE [ARGUMENT...]
// Node 20 can't load .ts itself; vite, which the tests need anyway, can. The program sees its arguments at argv[2] on.
import { resolve } from 'node:path';
import { runnerImport } from 'vite';

const [file] = process.argv.splice(2, 1);
if (file === undefined) {
	process.stderr.write('usage: node tools/run-ts.mjs FILE [ARGUMENT...]\n');
	process.exit(2);
}
await runnerImport(resolve(file), { configFile: false, logLevel: 'error', oxc: { target: 'node20' } });

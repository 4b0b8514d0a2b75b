// Bundles the command line into dist/bin: a run reads a few files instead of a hundred and fifty before its command starts.
// CommonJS, because Node starts it sooner. Not minified: stacks stay readable. What has native parts stays outside.
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const project = fileURLToPath(new URL('..', import.meta.url));

const bundle = await rolldown({
	cwd: project,
	input: { dropcloth: 'src/cli/main.ts' },
	platform: 'node',
	external: [/^node:/, 'koffi', /^sqlite-mc/],
	transform: { target: 'node20' },
});
await bundle.write({
	dir: 'dist/bin',
	format: 'cjs',
	entryFileNames: '[name].cjs',
	chunkFileNames: 'chunk-[name].cjs',
});
await bundle.close();
chmodSync(`${project}/dist/bin/dropcloth.cjs`, 0o755);

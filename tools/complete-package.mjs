// Completes a build to what is published: node tools/complete-package.mjs [BUILD]   (BUILD: dist)
// Puts SQLite for Node 20 into it, so that installing the package needs no compiler and runs no install script: the
// JavaScript of sqlite-mc-legacy and the add-on that `npm ci` compiled from it. Newer Node loads sqlite-mc's own prebuilt one.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const NODE_20_ABI = '115';
const project = resolve(import.meta.dirname, '..');
const build = resolve(process.argv[2] ?? join(project, 'dist'));
const engine = join(project, 'node_modules/sqlite-mc-legacy');
const addon = join(engine, 'build/Release/better_sqlite3.node');

if (process.versions.modules !== NODE_20_ABI || process.arch !== 'x64' || !existsSync(addon)) {
	refuse(`packing needs Node 20 on x64 after npm ci; this is Node ${process.version} on ${process.arch}`);
}
for (const launcher of ['launch-x64', 'launch-arm64']) {
	const path = join(build, 'native', launcher);
	if (!existsSync(path)) refuse(`${path} is missing; the package carries both (Debian: gcc-aarch64-linux-gnu)`);
}

const place = join(build, 'native/sqlite-node20');
const fresh = mkdtempSync(join(build, 'native/.sqlite-'));
cpSync(join(engine, 'lib'), join(fresh, 'lib'), { recursive: true });
copyFileSync(join(engine, 'LICENSE'), join(fresh, 'LICENSE'));
copyFileSync(addon, join(fresh, 'better_sqlite3.node'));
writeFileSync(join(fresh, 'package.json'), `${JSON.stringify({ type: 'commonjs', main: 'index.js' })}\n`);
writeFileSync(
	join(fresh, 'index.js'),
	`'use strict';
const Database = require('./lib');
const nativeBinding = require('./better_sqlite3.node');
module.exports = class extends Database {
	constructor(path, options) {
		super(path, { ...options, nativeBinding });
	}
};
`,
);
chmodSync(join(fresh, 'better_sqlite3.node'), 0o644);
chmodSync(fresh, 0o755);
rmSync(place, { recursive: true, force: true });
renameSync(fresh, place); // whole or not at all: a program that starts now looks for it

function refuse(message) {
	process.stderr.write(`${message}\n`);
	process.exit(1);
}

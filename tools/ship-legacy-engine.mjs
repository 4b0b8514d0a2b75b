// Puts SQLite for Node 20 into the package, so that installing it needs no compiler and runs no install script: the
// JavaScript of sqlite-mc-legacy and the add-on that `npm ci` compiled from it. Newer Node loads sqlite-mc's own prebuilt one.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const NODE_20_ABI = '115';
const project = resolve(import.meta.dirname, '..');
const from = join(project, 'node_modules/sqlite-mc-legacy');
const to = join(project, 'dist/native/sqlite-node20');
const addon = join(from, 'build/Release/better_sqlite3.node');

if (process.versions.modules !== NODE_20_ABI || process.arch !== 'x64' || !existsSync(addon)) {
	process.stderr.write(
		`packing needs Node 20 on x64 after npm ci, this is Node ${process.version} on ${process.arch}\n`,
	);
	process.exit(1);
}
mkdirSync(to, { recursive: true });
cpSync(join(from, 'lib'), join(to, 'lib'), { recursive: true });
copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
copyFileSync(addon, join(to, 'better_sqlite3.node'));
chmodSync(join(to, 'better_sqlite3.node'), 0o644);
writeFileSync(join(to, 'package.json'), `${JSON.stringify({ type: 'commonjs', main: 'index.js' })}\n`);
writeFileSync(
	join(to, 'index.js'),
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

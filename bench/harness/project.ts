import { join, resolve } from 'node:path';

/** The root of this repository. */
export const PROJECT: string = resolve(import.meta.dirname, '../..');

/** The built command line; `npm run bench` builds it first. */
export const PROGRAM: string = join(PROJECT, 'dist/bin/dropcloth.cjs');

/** The built launcher. */
export const LAUNCHER: string = join(PROJECT, `dist/native/launch-${process.arch}`);

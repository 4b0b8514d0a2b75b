import { fileURLToPath } from 'node:url';

/** The packaged program: what must be visible inside a sandbox for `dropcloth` to work there. */
export const PACKAGE: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The launcher's binary for this machine. */
export const LAUNCHER = `${PACKAGE}/dist/native/launch-${process.arch}`;

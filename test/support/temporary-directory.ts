import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A directory of its own for one test: `await using place = temporaryDirectory()` (or `using`) removes it at the end. */
export interface TemporaryDirectory extends Disposable, AsyncDisposable {
	readonly path: string;
	/** Writes a file of this name, with its directories, and gives its absolute path. */
	write(name: string, content: string | Uint8Array): string;
	/** The absolute path of a name in it. */
	join(...names: string[]): string;
}

/** Makes one below `parent`. Everybody may enter it, so that a test can go on as another user; its mode is 0755. */
export function temporaryDirectory(parent = tmpdir()): TemporaryDirectory {
	const path = mkdtempSync(join(parent, 'dropcloth-test-'));
	chmodSync(path, 0o755);
	const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
	return {
		path,
		join: (...names) => join(path, ...names),
		write(name, content) {
			const file = join(path, name);
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, content);
			return file;
		},
		[Symbol.dispose]: remove,
		[Symbol.asyncDispose]: async () => remove(),
	};
}

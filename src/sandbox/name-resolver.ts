import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * Resolves names as the programs of this machine do, /etc/hosts included, in a process of its own: a resolver that gets no answer
 * blocks its thread for as long as it likes, and this process could not end before it.
 */
export class NameResolver {
	#child: ChildProcessByStdio<Writable, Readable, null> | null = null;
	readonly #waiting = new Map<string, Lookup>();
	#disposed = false;

	/** All addresses of a name. Rejects with an Error that has a `code`, such as ENOTFOUND. */
	addressesOf(name: string): Promise<readonly string[]> {
		const waiting = this.#waiting.get(name);
		if (waiting !== undefined) return waiting.addresses;
		const { promise: addresses, resolve, reject } = withResolvers<readonly string[]>();
		if (this.#disposed) reject(failure(name, 'ECANCELED'));
		else {
			this.#waiting.set(name, { addresses, resolve, reject });
			this.#child ??= this.#start();
			this.#child.stdin.write(`${name}\n`);
		}
		return addresses;
	}

	/** Ends the process; what is still asked for is rejected. */
	[Symbol.dispose](): void {
		this.#disposed = true;
		this.#child?.kill('SIGKILL');
	}

	#start(): ChildProcessByStdio<Writable, Readable, null> {
		// of a session of its own, or a Ctrl-C meant for the command would end it; it ends when this process does
		const child = spawn(process.execPath, ['--input-type=commonjs', '-e', PROGRAM], {
			detached: true,
			stdio: ['pipe', 'pipe', 'ignore'],
		});
		let buffered = '';
		child.stdout.setEncoding('utf8').on('data', (text: string) => {
			const lines = (buffered + text).split('\n');
			buffered = lines.pop() ?? '';
			for (const line of lines) this.#answered(JSON.parse(line));
		});
		// told by its end
		child.stdin.on('error', () => {});
		child.once('error', (error) => this.#ended(error));
		child.once('close', () => this.#ended());
		return child;
	}

	#answered({ name, code, addresses }: Answer): void {
		const lookup = this.#waiting.get(name);
		this.#waiting.delete(name);
		if (code === null) lookup?.resolve(addresses);
		else lookup?.reject(failure(name, code));
	}

	#ended(cause?: Error): void {
		this.#child = null;
		for (const [name, { reject }] of this.#waiting) reject(failure(name, 'ECANCELED', cause));
		this.#waiting.clear();
	}
}

interface Lookup {
	readonly addresses: Promise<readonly string[]>;
	readonly resolve: (addresses: readonly string[]) => void;
	readonly reject: (error: Error) => void;
}

/** What the process says of a name. */
interface Answer {
	readonly name: string;
	/** What went wrong, or null. */
	readonly code: string | null;
	readonly addresses: readonly string[];
}

/** A name a line in, an {@link Answer} a line out; ends with its input. */
const PROGRAM = `
const { lookup } = require('node:dns');
const { Socket } = require('node:net');
const answers = new Socket({ fd: 1 });
const names = require('node:readline').createInterface({ input: new Socket({ fd: 0 }) });
names.on('close', () => process.kill(process.pid, 'SIGKILL'));
names.on('line', (name) => lookup(name, { all: true, verbatim: true }, (error, found = []) => {
	const answer = { name, code: error && (error.code || 'EAI_FAIL'), addresses: found.map(({ address }) => address) };
	answers.write(JSON.stringify(answer) + '\\n');
}));
`;

function failure(name: string, code: string, cause?: Error): Error {
	return Object.assign(new Error(`${name}: ${code}`, { cause }), { code });
}

function withResolvers<T>(): {
	promise: Promise<T>;
	resolve: (value: T) => void;
	reject: (error: Error) => void;
} {
	let resolve: (value: T) => void = () => {};
	let reject: (error: Error) => void = () => {};
	const promise = new Promise<T>((resolved, rejected) => {
		resolve = resolved;
		reject = rejected;
	});
	return { promise, resolve, reject };
}

import type { Duplex } from 'node:stream';

/** What a freeze took. */
export interface Freeze {
	readonly microseconds: number;
	readonly processes: number;
	readonly rounds: number;
}

/** How a freeze was until its end. */
export interface Thaw {
	/**
	 * Nothing moved before the thaw. False when the launcher thawed by itself, as nobody asked it for too long, or when
	 * something outside, such as `fg` in the caller's shell, continued what was stopped.
	 */
	readonly undisturbed: boolean;
}

/** Something inside could not be made to stand still, such as what waits in the kernel for a server that is gone. */
export class CannotFreeze extends Error {}

/** The launcher's control socket: a letter asks, a line answers, in the order of the requests. */
export class ControlChannel {
	/** The launcher told unasked that the command has ended and joined ones have not; pending for ever when it never does. */
	readonly waiting: Promise<void>;
	readonly #socket: Duplex;
	readonly #requests: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];

	constructor(socket: Duplex) {
		this.#socket = socket;
		this.waiting = new Promise((resolve) => this.#listen(resolve));
	}

	/** Throws CannotFreeze when something inside does not stop; then everything goes on. */
	async freeze(): Promise<Freeze> {
		const line = await this.#ask('F');
		if (line.startsWith('error ')) throw new CannotFreeze(`the sandbox could not be stopped: ${line}`);
		const match = /^frozen (\d+) procs (\d+) rounds (\d+)/.exec(line);
		if (match === null) throw new Error(`the launcher answered a freeze with '${line}'`);
		return { microseconds: Number(match[1]), processes: Number(match[2]), rounds: Number(match[3]) };
	}

	async thaw(): Promise<Thaw> {
		const line = await this.#ask('T');
		if (!THAWED.has(line)) throw new Error(`the launcher answered a thaw with '${line}'`);
		return { undisturbed: line === 'thawed' };
	}

	/** Nobody answers any more. */
	close(): void {
		this.#socket.destroy();
		for (const { reject } of this.#requests.splice(0)) reject(new Error('the sandbox has ended'));
	}

	#listen(onWaiting: () => void): void {
		let buffered = '';
		this.#socket.setEncoding('latin1');
		this.#socket.on('data', (text: string) => {
			const lines = (buffered + text).split('\n');
			buffered = lines.pop() ?? '';
			for (const line of lines) {
				if (line.startsWith('waiting ')) onWaiting();
				else this.#requests.shift()?.resolve(line);
			}
		});
		// A launcher that has just ended: its end tells the waiting ones.
		this.#socket.on('error', () => {});
	}

	#ask(letter: 'F' | 'T'): Promise<string> {
		return new Promise((resolve, reject) => {
			this.#requests.push({ resolve, reject });
			this.#socket.write(letter);
		});
	}
}

const THAWED = new Set(['thawed', 'thawed-before', 'thawed-disturbed']);

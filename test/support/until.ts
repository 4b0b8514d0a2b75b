import { setTimeout as wait } from 'node:timers/promises';

/** Asks again and again until the answer is something (not null, undefined or false); fails after a long time, naming `what`. */
export async function until<T>(what: string, ask: () => T | null | undefined | false, timeoutMs = 30_000): Promise<T> {
	for (const deadline = performance.now() + timeoutMs; ; await wait(2)) {
		const answer = ask();
		if (answer !== null && answer !== undefined && answer !== false) return answer;
		if (performance.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
	}
}

import type { Time } from './inode.ts';

/** Where the time comes from; tests put their own in its place. */
export interface Clock {
	now(): Time;
}

/** The machine's clock. */
export const systemClock: Clock = {
	now() {
		const ms = Date.now();
		const sec = Math.floor(ms / 1000);
		return { sec, nsec: (ms - sec * 1000) * 1_000_000 };
	},
};

/** A time as ISO 8601 in UTC with nanoseconds, as every JSON answer has it. */
export function isoTime(time: Time): string {
	const seconds = new Date(time.sec * 1000).toISOString().slice(0, 19);
	return `${seconds}.${String(time.nsec).padStart(9, '0')}Z`;
}

/** The time that {@link isoTime} wrote. Throws for text that is none. */
export function timeOfIso(text: string): Time {
	const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z$/.exec(text);
	if (match === null) throw new Error(`'${text}' is not a time in ISO 8601 with nanoseconds`);
	return { sec: Date.parse(`${match[1]}Z`) / 1000, nsec: Number(match[2]) };
}

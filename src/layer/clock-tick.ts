import type { Time } from '../base/inode.ts';

/** The kernel stamps files with a clock that lags by up to a tick: 10 ms at the coarsest (CONFIG_HZ=100). */
export const TICK_MS = 10;

const TICK_NS = TICK_MS * 1_000_000;

/** The time that a file's ctime is before when nobody has changed the file since `now`. */
export function oneTickBefore({ sec, nsec }: Time): Time {
	return nsec >= TICK_NS ? { sec, nsec: nsec - TICK_NS } : { sec: sec - 1, nsec: nsec + 1_000_000_000 - TICK_NS };
}

import { isWithin } from '../base/paths.ts';
import type { Bind, SandboxRoot } from './sandbox-spec.ts';

/** What decides where the channel is seen. */
export interface ChannelRequest {
	/** The socket on the host. */
	readonly source: string;
	readonly covers: readonly string[];
	readonly roots: readonly SandboxRoot[];
	/** Those that were asked for. */
	readonly binds: readonly Bind[];
}

/**
 * The socket by which what runs inside can ask for a checkpoint, as it is shown: read-only, so that nobody can change the
 * socket's mode on the host, or take it away. It lies in a directory that is made anew for each run: /run, or where that is
 * the host's own, /dev.
 */
export function channelBind({ source, covers, roots, binds }: ChannelRequest): Bind {
	const taken = [...roots.map(({ path }) => path), ...binds.map(({ target }) => target)];
	const fits = covers.includes('/run') && !taken.some((path) => isWithin(IN_RUN, path));
	const target = fits ? IN_RUN : IN_DEV;
	return { source, target, directory: false, writable: false, reason: 'by which a checkpoint can be asked for' };
}

const IN_RUN = '/run/dropcloth.sock';
const IN_DEV = '/dev/dropcloth.sock';

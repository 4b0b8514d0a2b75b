import { readMounts } from '../host/mount-info.ts';
import { findBinds } from './binds.ts';
import { channelBind } from './channel-place.ts';
import { checkBase } from './check-base.ts';
import { homeEntriesOf, homeToolsOf } from './home-facts.ts';
import { homeRoot } from './home-form.ts';
import { hostFacts } from './host-facts.ts';
import { hostSockets } from './host-sockets.ts';
import { keptLinks } from './kept-links.ts';
import { keptBinds } from './kept-places.ts';
import { findMasks } from './masks.ts';
import { realPath } from './real-path.ts';
import type { SandboxRequest } from './sandbox-request.ts';
import type { SandboxSpec } from './sandbox-spec.ts';
import { outermostMountsBelow } from './submounts.ts';
import { sandboxUser } from './user-facts.ts';
import { workingDirectory } from './working-directory.ts';

/**
 * Looks at the host and makes of a request the value from which the plan is built. Reads only, and little: it is on the way of
 * every start. Throws Refusal when the request cannot be met.
 */
export function gatherSpec(request: SandboxRequest): SandboxSpec {
	const { roots, reads, storePath } = request;
	const home = homePath(request.home);
	const user = sandboxUser();
	const mounts = readMounts();
	const host = hostFacts(mounts);
	checkBase({ ...request, home, user, mountPoints: host.mountPoints });
	const masks = findMasks({ ...request, home });
	const ground = { roots, home, reads };
	const layered = homeRoot(ground);
	const inPieces =
		layered !== null &&
		reads === 'home' &&
		!user.privileged &&
		outermostMountsBelow(layered.path, host.mountPoints).length > 0;
	const homeEntries = inPieces ? homeEntriesOf(layered) : null;
	const madeAnew = [...host.covers, '/dev/shm', ...(home !== null && reads === 'project' ? [home] : [])];
	const asked = findBinds({ ...request, storePath, madeAnew });
	const keep = { ...request, home, masks, host, binds: asked };
	const channel =
		request.channel === null
			? []
			: [channelBind({ source: request.channel, covers: host.covers, roots, binds: asked })];
	return {
		sessionId: request.sessionId,
		roots,
		home,
		cwd: workingDirectory(roots, request.cwd),
		reads,
		masks,
		binds: [...keptBinds(keep), ...asked, ...channel],
		links: keptLinks(keep),
		channel: channel[0]?.target ?? null,
		sockets: hostSockets({ covers: host.covers, mounts, unmask: request.unmask }),
		network: request.network,
		user,
		host,
		homeTools:
			layered !== null && (inPieces || reads === 'project') ? homeToolsOf(layered, host.mountPoints, homeEntries) : [],
		homeEntries,
		lock: request.lock,
		control: request.control,
		limits: request.limits,
		command: request.command,
	};
}

function homePath(home: string | null): string | null {
	const real = home?.startsWith('/') ? realPath(home) : null;
	return real?.directory === true && real.path !== '/' ? real.path : null;
}

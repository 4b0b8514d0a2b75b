import type { Limits } from './limits.ts';
import type { NetworkAccess } from './network-access.ts';

/** The trees of a session that are laid over the host. */
export type RootRole = 'project' | 'home' | 'gitdir';

/** One tree of the session: an overlayfs upper directory over host directories. */
export interface SandboxRoot {
	readonly role: RootRole;
	/** Where it is seen inside; a real path. */
	readonly path: string;
	/** What lies beneath, top first: the frozen parent of a branch, then the host directory. Empty for a session without base. */
	readonly lowers: readonly string[];
	readonly upper: string;
	readonly work: string;
}

/** A place that must not be seen: an empty file or directory is mounted over it. */
export interface Mask {
	/** Real path on the host. */
	readonly path: string;
	readonly directory: boolean;
	readonly reason: string;
}

/** A host path that is shown as it is. */
export interface Bind {
	/** Real path on the host. */
	readonly source: string;
	/** Where it is seen inside. */
	readonly target: string;
	readonly directory: boolean;
	readonly writable: boolean;
	readonly reason: string;
	/** Left out where the session has taken its place away. */
	readonly optional?: boolean;
}

/** A symlink of the host that programs are found by. */
export interface KeptLink {
	/** Where it lies; a real path but for its last part. */
	readonly path: string;
	readonly target: string;
}

/** One entry of the user's home directory, looked at when home can be laid over in pieces only. */
export interface HomeEntry {
	readonly name: string;
	readonly kind: 'directory' | 'symlink' | 'other';
	/** Target of a symlink, else null. */
	readonly target: string | null;
	/** What the home layer has under this name: it was never touched, has content of its own, or was deleted. */
	readonly layer: 'untouched' | 'present' | 'deleted';
}

/** A directory or file of a known agent or tool that exists in the user's home. */
export interface HomeTool {
	/** Below the home directory. */
	readonly path: string;
	readonly directory: boolean;
	readonly owner: 'agent' | 'tool';
	/** The directories that lie beneath it, top first; of a file, the file itself. */
	readonly lowers: readonly string[];
}

/** Who the command runs as. */
export interface SandboxUser {
	readonly uid: number;
	readonly gid: number;
	/** CAP_SYS_ADMIN in the user namespace that the host's mounts belong to: no user namespace is needed for the mounts. */
	readonly privileged: boolean;
	/** Lines of the caller's own /proc/self/uid_map and gid_map as `inside inside count`; used when privileged. */
	readonly uidMap: string;
	readonly gidMap: string;
}

/** What the plan needs to know of the host beyond the paths it was given. */
export interface HostFacts {
	/** Those of {@link COVERED_PLACES} that exist as directories. */
	readonly covers: readonly string[];
	/** Character devices that are shown, such as `/dev/null`. */
	readonly devices: readonly string[];
	/** Directories and files of /proc that a privileged command must not write or read; those that exist. */
	readonly procDirectories: readonly string[];
	readonly procFiles: readonly string[];
	/** Where something is mounted on the host, from /proc/self/mountinfo; those that can be reached. */
	readonly mountPoints: readonly string[];
}

/** Everything that decides what the agent sees: a plain value, from which {@link buildPlan} makes the mounts. */
export interface SandboxSpec {
	readonly sessionId: string;
	readonly roots: readonly SandboxRoot[];
	/** Real path of the user's home directory; null when there is none, or when it is `/`. */
	readonly home: string | null;
	/** Working directory of the command. */
	readonly cwd: string;
	/** `project`: nothing of the home directory is seen but binds and the agents' own directories. */
	readonly reads: 'home' | 'project';
	readonly masks: readonly Mask[];
	readonly binds: readonly Bind[];
	/** Links that are made again in places that are made anew. */
	readonly links: readonly KeptLink[];
	/** Where the channel to the owner is seen, one of the binds; null without one. */
	readonly channel: string | null;
	/** Real paths of sockets of the host: a read-only mount does not keep anyone from connecting to one. */
	readonly sockets: readonly string[];
	readonly network: NetworkAccess;
	readonly user: SandboxUser;
	readonly host: HostFacts;
	readonly homeTools: readonly HomeTool[];
	/** Set when home can be laid over in pieces only: a mount lies below it and the caller is not privileged. */
	readonly homeEntries: readonly HomeEntry[] | null;
	/** Byte range of the owner's lock that the launcher shares on descriptor 6; null without. */
	readonly lock: { readonly start: number; readonly length: number } | null;
	/** Whether the launcher listens for freeze and thaw on descriptor 5. */
	readonly control: boolean;
	readonly limits: Limits;
	readonly command: readonly string[];
}

/** Places that are private to a run: a fresh tmpfs each. `/dev` is made anew in any case. */
export const COVERED_PLACES = ['/tmp', '/var/tmp', '/run'] as const;

import type { SandboxRoot, SandboxSpec } from './sandbox-spec.ts';

/** What a run asks of its sandbox, before anything of the host was looked at. Paths are absolute. */
export interface SandboxRequest {
	readonly sessionId: string;
	/** The session's trees; paths without symlinks. Exactly one is the project. */
	readonly roots: readonly SandboxRoot[];
	/** The user's home directory as the environment names it, or null. */
	readonly home: string | null;
	/** Where the command was asked to start; the project's root when that is not in the project. */
	readonly cwd: string;
	readonly reads: SandboxSpec['reads'];
	readonly network: SandboxSpec['network'];
	readonly mask: readonly string[];
	readonly unmask: readonly string[];
	/** `P` or `P:Q`. */
	readonly bind: readonly string[];
	readonly roBind: readonly string[];
	/** Directory of all sessions and artifacts. */
	readonly storePath: string;
	/** What `dropcloth` itself needs inside: the program that runs it, its own directory, and itself as it was called. */
	readonly installed: readonly string[];
	/** Where that program is found by its name; null or left out when it is not. */
	readonly nodeOnPath?: string | null;
	/** The owner's socket for what runs inside, or null. */
	readonly channel: string | null;
	/** Allow a base that holds the home directory or the store. */
	readonly force: boolean;
	readonly lock: SandboxSpec['lock'];
	readonly control: boolean;
	readonly limits: SandboxSpec['limits'];
	readonly command: readonly string[];
}

import type { EnvironmentRequest } from '../sandbox/environment.ts';
import type { Limits } from '../sandbox/limits.ts';
import type { SandboxUser } from '../sandbox/sandbox-spec.ts';

/** A flag that decides what the sandbox of a session is, as long as it lives. */
export interface SandboxSetting {
	/** As it is typed, such as `--net`. */
	readonly flag: string;
	/** What it is set to; equal when it means the same. */
	readonly value: string;
	/** Whether the user said so, or it is by default. */
	readonly given: boolean;
}

/** What the environment of every command of a sandbox is made from. */
export type InsideEnvironment = Omit<EnvironmentRequest, 'outer' | 'set' | 'pass' | 'clear' | 'cwd'>;

/** Another command that wants to run in the sandbox. */
export interface JoinRequest {
	readonly argv: readonly string[];
	/** Where it was started, outside. */
	readonly cwd: string;
	readonly uid: number;
	/** Of the process that asks, for people. */
	readonly pid: number;
	/** The base that the session must be over; null when any will do. */
	readonly base: { readonly path: string | null } | null;
	readonly settings: readonly SandboxSetting[];
}

/** How a command gets in. */
export interface JoinAnswer {
	/** Number of its run in the session's record. */
	readonly run: number;
	/** The owner's process, and the command that it runs. */
	readonly owner: { readonly pid: number; readonly argv: readonly string[] };
	/** PID 1 of the sandbox as the owner sees it, and when it started. */
	readonly init: number;
	readonly initStart: string;
	readonly user: SandboxUser;
	readonly limits: Limits;
	/** Where the command starts, inside. */
	readonly cwd: string;
	readonly environment: InsideEnvironment;
	/** The layer's directory, for files without a name. */
	readonly scratch: string;
}

/** What the owner tells a command that has joined: to end. */
export interface JoinedWord {
	readonly tell: 'SIGTERM' | 'SIGHUP';
}

/** How a command that had joined ended; both null when that is not known. */
export interface JoinedEnd {
	readonly exit: number | null;
	readonly signal: number | null;
}

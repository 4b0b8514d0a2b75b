import { resolve } from 'node:path';
import type { FlagParametersForType } from '@stricli/core';
import { Refusal } from '../base/refusal.ts';
import { CHECKPOINT_TIMES } from '../base/settings.ts';
import type { BackendChoice } from '../sandbox/backend.ts';
import type { SnapshotPolicy } from '../session/live-run.ts';
import type { RunRequest } from '../session/run-request.ts';
import type { CliContext } from './context.ts';
import { nodeOnPath } from './package-paths.ts';
import { durationBetween, parseDurationSeconds } from './parse-duration.ts';
import { parseSizeBytes } from './parse-size.ts';

/** Flags of every command that runs something in the sandbox. */
export interface SandboxFlags {
	readonly mountBackend: BackendChoice;
	readonly snapshots: SnapshotPolicy;
	readonly quiet?: number;
	readonly checkpointInterval?: number;
	readonly reads: 'home' | 'project';
	readonly net: string;
	readonly bind?: readonly string[];
	readonly roBind?: readonly string[];
	readonly mask?: readonly string[];
	readonly unmask?: readonly string[];
	readonly env?: readonly string[];
	readonly passEnv?: readonly string[];
	readonly clearEnv: boolean;
	readonly showBinds: boolean;
	readonly timeout?: number;
	readonly quota?: number;
	readonly memory?: number;
	readonly pids?: number;
	readonly onExit: 'keep' | 'apply' | 'discard';
	readonly force: boolean;
}

const repeated = (brief: string, placeholder: string) =>
	({
		kind: 'parsed',
		parse: String,
		brief: `${brief}; may be repeated`,
		optional: true,
		variadic: true,
		placeholder,
	}) as const;
const off = (brief: string) => ({ kind: 'boolean', brief, default: false, withNegated: false }) as const;

const seconds = (ms: number) => `${ms / 1000}s`;

/** Each checkpoint stops everything inside for a moment. */
const LEAST_QUIET = '50ms';
const LEAST_INTERVAL = '200ms';
const MOST = '7d';

export const SANDBOX_FLAGS: FlagParametersForType<SandboxFlags, CliContext> = {
	mountBackend: {
		kind: 'enum',
		values: ['auto', 'kernel', 'fuse'],
		brief: 'What serves the project: the kernel’s overlayfs, or FUSE',
		default: 'auto',
	},
	snapshots: {
		kind: 'enum',
		values: ['all', 'checkpoints', 'exit', 'none'],
		brief:
			'When snapshots are taken by themselves: at start, checkpoints and exit; checkpoints only; at exit only; never. With the last two `checkpoint` is refused',
		default: 'all',
	},
	quiet: {
		kind: 'parsed',
		parse: durationBetween(LEAST_QUIET, MOST),
		brief: `A checkpoint is taken when nothing was written for so long: 500ms, 10s; ${seconds(CHECKPOINT_TIMES.quietMs)} when left out`,
		optional: true,
		placeholder: 'D',
	},
	checkpointInterval: {
		kind: 'parsed',
		parse: durationBetween(LEAST_INTERVAL, MOST),
		brief: `A checkpoint is also taken when writing went on for so long without such a rest: 30s, 5m; ${seconds(CHECKPOINT_TIMES.intervalMs)} when left out`,
		optional: true,
		placeholder: 'D',
	},
	reads: {
		kind: 'enum',
		values: ['home', 'project'],
		brief: 'What of the home directory can be read: most of it, or nothing but agents’ own settings',
		default: 'home',
	},
	net: {
		kind: 'parsed',
		parse: String,
		brief:
			'The network: host, none, or the only hosts to be reached, through a proxy: example.com,*.example.org:443,[::1]:80',
		default: 'host',
		placeholder: 'host|none|HOST[:PORT],...',
	},
	bind: repeated('Show a host path and let writes reach it: P or P:Q', 'P[:Q]'),
	roBind: repeated('Show a host path, read-only: P or P:Q', 'P[:Q]'),
	mask: repeated('Hide a path that is there when the command starts', 'PATH'),
	unmask: repeated('Show a path that is hidden by default', 'PATH'),
	env: repeated('Set a variable inside', 'K=V'),
	passEnv: repeated('Pass on a variable that is dropped by default', 'K'),
	clearEnv: off('Pass on only a few basic variables'),
	showBinds: off('Print every mount in order, and which backend was chosen, on stderr'),
	timeout: {
		kind: 'parsed',
		parse: parseTimeoutSeconds,
		brief: 'End the command when so much time has passed: 90s, 30m, 12h; exit code 124',
		optional: true,
		placeholder: 'D',
	},
	quota: {
		kind: 'parsed',
		parse: parseSizeBytes,
		brief: 'End the command when its changes take so much of the disk: 500M, 2G; exit code 8, and nothing is lost',
		optional: true,
		placeholder: 'SIZE',
	},
	memory: {
		kind: 'parsed',
		parse: parseMemoryBytes,
		brief: 'Memory for all that runs inside: 500M, 2G; for each process where no control group is delegated',
		optional: true,
		placeholder: 'SIZE',
	},
	pids: {
		kind: 'parsed',
		parse: parsePids,
		brief:
			'Processes and threads for all that runs inside; for each command where no control group is delegated, and not to be had there as root',
		optional: true,
		placeholder: 'N',
	},
	onExit: {
		kind: 'enum',
		values: ['keep', 'apply', 'discard'],
		brief:
			'When the command has ended: keep the session; apply its changes, unless the host would run some; or discard what the command did, and with it a session that this run made',
		default: 'keep',
	},
	force: off('Accept a base that is a bad idea, such as the home directory'),
};

/** The part of a run that the flags decide. */
export function sandboxRequest(
	cli: CliContext,
	flags: SandboxFlags,
	{
		storePath,
		command,
		installed,
		network,
	}: Pick<RunRequest['sandbox'], 'storePath' | 'command' | 'installed' | 'network'>,
): Pick<
	RunRequest,
	'sandbox' | 'environment' | 'snapshots' | 'checkpoints' | 'timeoutMs' | 'quotaBytes' | 'limits' | 'backend'
> {
	// of P:Q, with Q absolute, this makes P absolute
	const absolute = (paths: readonly string[] = []) => paths.map((path) => resolve(cli.cwd, path));
	return {
		sandbox: {
			home: cli.home,
			cwd: cli.cwd,
			reads: flags.reads,
			network,
			mask: absolute(flags.mask),
			unmask: absolute(flags.unmask),
			bind: absolute(flags.bind),
			roBind: absolute(flags.roBind),
			storePath,
			installed,
			nodeOnPath: nodeOnPath(cli.env),
			force: flags.force,
			command,
		},
		environment: { outer: cli.env, set: variables(flags.env ?? []), pass: flags.passEnv ?? [], clear: flags.clearEnv },
		snapshots: flags.snapshots,
		checkpoints: {
			quietMs: flags.quiet ?? CHECKPOINT_TIMES.quietMs,
			intervalMs: flags.checkpointInterval ?? CHECKPOINT_TIMES.intervalMs,
		},
		timeoutMs: flags.timeout === undefined ? null : flags.timeout * 1000,
		quotaBytes: flags.quota ?? null,
		limits: { memoryBytes: flags.memory ?? null, pids: flags.pids ?? null },
		backend: flags.mountBackend,
	};
}

function variables(settings: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		settings.map((text) => {
			const equals = text.indexOf('=');
			if (equals <= 0) throw new Refusal('usage', 'bad-env', `--env ${text}: not of the form K=V`);
			return [text.slice(0, equals), text.slice(equals + 1)];
		}),
	);
}

function parseTimeoutSeconds(text: string): number {
	const seconds = parseDurationSeconds(text);
	if (seconds > 0) return seconds;
	throw new Error(`${text} is no time at all`);
}

function parsePids(text: string): number {
	if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
	throw new Error(`${text} is no number of processes`);
}

/** Below this hardly a program starts, and none says why. */
const LEAST_MEMORY_BYTES = 4 * 1024 ** 2;

function parseMemoryBytes(text: string): number {
	const bytes = parseSizeBytes(text);
	if (bytes < LEAST_MEMORY_BYTES) throw new Error(`${text} is too little for any program: 4M is the least`);
	return bytes;
}

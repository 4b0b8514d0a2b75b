import type { NetworkAccess } from './network-access.ts';
import { leadsToProxy, proxyEnvironment } from './proxy-environment.ts';

/** What decides the command's environment. */
export interface EnvironmentRequest {
	/** The caller's environment. */
	readonly outer: Readonly<Record<string, string | undefined>>;
	/** `--env K=V`. */
	readonly set: Readonly<Record<string, string>>;
	/** `--pass-env K`: passed on although it would be dropped. */
	readonly pass: readonly string[];
	/** `--clear-env`: only {@link BASIC_VARIABLES} and those of `pass` and `set`. */
	readonly clear: boolean;
	/** What there is of the network: with all of it, the caller's own proxies are used. */
	readonly network: NetworkAccess;
	readonly sessionId: string;
	readonly backend: 'kernel' | 'fuse';
	/** Path inside of the channel to the owner, or null when there is none. */
	readonly socketPath: string | null;
	/** Working directory of the command. */
	readonly cwd: string;
	/** Places that are private to the run: what lies in them outside is not there inside. */
	readonly covers: readonly string[];
}

/** The environment of the command inside. */
export function sandboxEnvironment(request: EnvironmentRequest): Record<string, string> {
	const environment: Record<string, string> = {};
	for (const [name, value] of Object.entries(request.outer)) {
		if (value !== undefined && passes(request, name)) environment[name] = value;
	}
	for (const name of TEMPORARY_DIRECTORIES) {
		const value = environment[name];
		if (value !== undefined && request.covers.some((cover) => value.startsWith(`${cover}/`)))
			environment[name] = '/tmp';
	}
	environment['PWD'] = request.cwd;
	Object.assign(environment, proxyEnvironment(request.network));
	Object.assign(environment, request.set);
	environment['DROPCLOTH'] = '1';
	environment['DROPCLOTH_SESSION'] = request.sessionId;
	environment['DROPCLOTH_BACKEND'] = request.backend;
	if (request.socketPath !== null) environment['DROPCLOTH_SOCKET'] = request.socketPath;
	return environment;
}

/** Left when the environment is cleared: without them hardly a program runs. */
export const BASIC_VARIABLES = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'] as const;

/**
 * Not passed on: they lead to programs of the user outside (ssh and gpg agents, the session bus, the display), or are ours
 * and must not be believed when they come from outside.
 */
export const DROPPED_VARIABLES = [
	'SSH_AUTH_SOCK',
	'SSH_AGENT_PID',
	'DISPLAY',
	'XAUTHORITY',
	'DROPCLOTH_SOCKET',
	'DROPCLOTH_KEY',
] as const;
export const DROPPED_PREFIXES = ['DBUS_', 'WAYLAND_', 'GPG_'] as const;

const TEMPORARY_DIRECTORIES = ['TMPDIR', 'TMP', 'TEMP'];

function passes({ pass, clear, network }: EnvironmentRequest, name: string): boolean {
	if (pass.includes(name)) return true;
	if (clear) return (BASIC_VARIABLES as readonly string[]).includes(name);
	if (network !== 'host' && leadsToProxy(name)) return false;
	if ((DROPPED_VARIABLES as readonly string[]).includes(name)) return false;
	return !DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fsPath } from '../base/bytes.ts';
import { isWithin } from '../base/paths.ts';
import { sandboxEnvironment } from '../sandbox/environment.ts';
import { explainFailure } from '../sandbox/explain.ts';
import { gatherSpec } from '../sandbox/gather-spec.ts';
import { launch } from '../sandbox/launch.ts';
import { makeLayerDirectories } from '../sandbox/layer-directories.ts';
import { NO_LIMITS } from '../sandbox/limits.ts';
import { buildPlan } from '../sandbox/plan.ts';
import { realPath } from '../sandbox/real-path.ts';
import type { SandboxRoot, SandboxSpec } from '../sandbox/sandbox-spec.ts';
import { ESCAPES, type Escape } from './escapes.ts';
import { type Finding, finding } from './finding.ts';

/** What the sandbox is made of that the escapes are tried in. */
export interface EscapeRequest {
	/** Must exist. */
	readonly storePath: string;
	/** A directory of the host where nothing may come up. */
	readonly basePath: string;
	readonly home: string;
	/** The caller's environment. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** What `dropcloth` itself needs inside. */
	readonly installed: readonly string[];
	readonly launcher: string;
}

/** Nothing that is tried waits for anything; all of it takes a quarter of a second. */
const LIMIT_MS = 60_000;
const OUTSIDE = ['/', '/etc', '/usr/bin', '/var/lib', '/opt'];
const REMEDY = 'do not trust a sandbox on this machine, and report it as SECURITY.md says';

/**
 * Starts a sandbox as a run does, with a layer over home and the real masks, and tries each of {@link ESCAPES} in it. Leaves
 * nothing behind, neither in the store nor where an escape succeeded. Throws Refusal when there can be no sandbox.
 */
export async function tryEscapes(request: EscapeRequest): Promise<Finding[]> {
	const place = realpathSync(mkdtempSync(join(request.storePath, '.doctor-')));
	const name = `.dropcloth${place.slice(place.lastIndexOf('/') + 1)}`;
	const server = await listen(`\0${name}`);
	try {
		const output = await outputInside(place, name, request);
		return judgeEscapes(output, touchedHost(place, name, request));
	} finally {
		server.close();
		removePlace(place);
	}
}

/** The command that tries all, in turn; the masked places are what it must find empty. */
export function escapeCommand(masked: readonly string[]): string[] {
	const attempts = ESCAPES.map(({ script }) => `printf '\\0'; ( ${script}\n) 2>/dev/null </dev/null; echo tried`);
	return ['/bin/sh', '-c', attempts.join('\n'), 'sh', ...masked];
}

/** What came of it: the command's output, and what of the host was found changed afterwards. */
export function judgeEscapes(output: string, touched: readonly string[]): Finding[] {
	const [, ...outputs] = output.split('\0');
	return ESCAPES.map((tried, index) => {
		const found = judge(tried, outputs[index] ?? '');
		if (tried.check !== 'escape-host-files' || touched.length === 0) return found;
		return finding(tried.check, false, true, `reached ${touched.join(', ')}`, REMEDY);
	});
}

function judge({ check, holds, needed }: Escape, output: string): Finding {
	const lines = output.trimEnd().split('\n');
	const reached = lines.filter((line) => line.startsWith('reached '));
	const absent = lines.find((line) => line.startsWith('absent '));
	if (reached.length > 0) return finding(check, false, needed, reached.join(', '), needed ? REMEDY : OLD_KERNEL);
	if (absent !== undefined) {
		const program = absent.slice('absent '.length);
		return finding(check, false, false, `not tried: there is no ${program}`, `install ${program}`);
	}
	if (lines.join() !== 'tried')
		return finding(check, false, needed, 'the attempt did not come to its end', 'try again');
	return finding(check, true, needed, holds);
}

const OLD_KERNEL = 'use Linux 6.12 or newer with Landlock on, or --net none';

async function listen(path: string): Promise<Server> {
	const server = createServer((socket) => socket.destroy());
	await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
	return server;
}

async function outputInside(place: string, name: string, request: EscapeRequest): Promise<string> {
	const spec = escapeSpec(place, request);
	makeLayerDirectories(spec);
	const plan = buildPlan(spec);
	const environment = sandboxEnvironment({
		outer: request.environment,
		set: {
			STORE: realpathSync(request.storePath),
			NAME: name,
			OUTSIDE: outside(request).join('\n'),
			NAMESPACES: ['mnt', 'pid', 'ipc', 'uts'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`)).join(' '),
			NODE: process.execPath,
			SCRATCH: '/tmp',
		},
		pass: [],
		clear: false,
		network: 'host',
		sessionId: spec.sessionId,
		backend: 'kernel',
		socketPath: null,
		cwd: spec.cwd,
		covers: spec.host.covers,
	});
	const { launcher } = request;
	const launched = launch({ launcher, plan, environment, scratch: place, streams: ['ignore', 'pipe', 'ignore'] });
	const limit = setTimeout(() => launched.kill('SIGKILL'), LIMIT_MS);
	let output = '';
	launched.stdout?.setEncoding('utf8').on('data', (text: string) => {
		output += text;
	});
	const read = new Promise((resolve) => launched.stdout?.once('close', resolve));
	const [outcome] = await Promise.all([launched.ended, read]);
	clearTimeout(limit);
	if (outcome.kind === 'failed') throw explainFailure(outcome.failure, plan);
	return output;
}

/** A session without a base of its own, so that it can be anywhere; what lies below it is made here. */
function escapeSpec(place: string, { storePath, home, installed }: EscapeRequest): SandboxSpec {
	const lower = join(place, 'lower');
	mkdirSync(lower);
	writeFileSync(join(lower, 'file'), ON_HOST);
	const root = (role: SandboxRoot['role'], path: string, below: string): SandboxRoot => ({
		role,
		path,
		lowers: [below],
		upper: join(place, role, 'upper'),
		work: join(place, role, 'work'),
	});
	const project = root('project', '/run/dropcloth/doctor', lower);
	const homePath = realPath(home)?.path ?? '/';
	const request = {
		sessionId: 'doctor',
		roots: [project, ...(homePath === '/' ? [] : [root('home', homePath, homePath)])],
		home,
		cwd: project.path,
		reads: 'home',
		network: 'host',
		mask: [],
		unmask: [],
		bind: [],
		roBind: [],
		storePath,
		installed,
		channel: null,
		force: true,
		lock: null,
		control: false,
		limits: NO_LIMITS,
		command: [],
	} as const;
	const spec = gatherSpec(request);
	const masked = spec.masks.filter(({ path }) => !spec.binds.some(({ target }) => isWithin(target, path)));
	return { ...spec, command: escapeCommand(masked.map(({ path }) => path)) };
}

const ON_HOST = 'host\n';

/** Directories of the host in which the command tries to make a file. */
function outside({ basePath, home, storePath }: EscapeRequest): string[] {
	return [...OUTSIDE, basePath, home, storePath];
}

/** What came up on the host; it is removed. */
function touchedHost(place: string, name: string, request: EscapeRequest): string[] {
	const made = [...outside(request), join(place, 'lower')].map((directory) => join(directory, name));
	const touched = made.filter((path) => lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined);
	for (const path of touched) rmSync(fsPath(path));
	const file = join(place, 'lower', 'file');
	return readFileSync(file, 'utf8') === ON_HOST ? touched : [...touched, file];
}

function removePlace(place: string): void {
	for (const role of ['project', 'home']) {
		// overlayfs leaves a directory without permissions in its work directory
		const inner = join(place, role, 'work', 'work');
		if (lstatSync(inner, { throwIfNoEntry: false }) !== undefined) chmodSync(inner, 0o700);
	}
	rmSync(place, { recursive: true, force: true });
}

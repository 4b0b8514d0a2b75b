import { readFileSync, rmSync } from 'node:fs';
import { fsPath } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import type { Time } from '../base/inode.ts';
import { errorCode } from '../base/posix-error.ts';
import { bootId, processStart } from '../host/process.ts';
import { replaceFile } from '../host/replace-file.ts';
import type { LayerPlace } from './layer-place.ts';
import type { QuotaState } from './quota.ts';
import type { SessionPlace } from './session-place.ts';

/** Describes the owner of a live session for people and for recovery. It decides nothing: the locks do. */
export interface OwnerFacts {
	readonly pid: number;
	/** Start time of the owner, as /proc/<pid>/stat gives it: tells it from a later process of the same number. */
	readonly pidStart: string | null;
	/** PID 1 of the sandbox, seen from here; null before it is known. */
	readonly init: number | null;
	readonly initStart: string | null;
	readonly bootId: string;
	readonly backend: 'kernel';
	readonly layer: number;
	/** The host directory that the session lies over; null without one. */
	readonly basePath: string | null;
	/** When the run started, ISO 8601. */
	readonly started: string;
	readonly argv: readonly string[];
	/** How much of its quota the layer takes, as of the last time that this was news; null without a quota. */
	readonly quota: QuotaState | null;
	/** The commands that have joined the run and go on. */
	readonly joined: readonly JoinedFacts[];
}

/** A command that has joined a run. */
export interface JoinedFacts {
	/** Its number in the session's record. */
	readonly run: number;
	/** The `dropcloth` that started it. */
	readonly pid: number;
	/** ISO 8601. */
	readonly started: string;
	readonly argv: readonly string[];
}

/** What is known of a run at the time. */
interface RunFacts {
	readonly layer: LayerPlace;
	readonly basePath: string | null;
	readonly started: Time;
	readonly argv: readonly string[];
	readonly init: number | null;
	readonly quota?: QuotaState | null;
	readonly joined?: readonly JoinedFacts[];
}

/** Describes this process as the owner, on account of a run. */
export function describeRun(
	place: SessionPlace,
	{ layer, basePath, started, argv, init, quota = null, joined = [] }: RunFacts,
): void {
	writeOwnerFile(place, {
		pid: process.pid,
		pidStart: processStart(process.pid),
		init,
		initStart: init === null ? null : processStart(init),
		bootId: bootId(),
		backend: 'kernel',
		layer: layer.number,
		basePath,
		started: isoTime(started),
		argv,
		quota,
		joined,
	});
}

function writeOwnerFile(place: SessionPlace, facts: OwnerFacts): void {
	replaceFile(place.ownerPath, JSON.stringify(facts));
}

/** What the last owner wrote; null when it ended well, or when its file cannot be read as one. */
export function readOwnerFile(place: SessionPlace): OwnerFacts | null {
	try {
		return JSON.parse(readFileSync(fsPath(place.ownerPath), 'utf8')) as OwnerFacts;
	} catch (error) {
		if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR' || error instanceof SyntaxError) return null;
		throw error;
	}
}

export function removeOwnerFile(place: SessionPlace): void {
	rmSync(fsPath(place.ownerPath), { force: true });
}

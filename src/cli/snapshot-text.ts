import { isoTime } from '../base/clock.ts';
import type { Snapshot } from '../store/snapshots.ts';
import { sizeText, timeText } from './format.ts';

/** A snapshot as every JSON answer has it. */
export function snapshotJson(snapshot: Snapshot, position: number): Record<string, unknown> {
	const { id, parent, tag, trigger, atRest, created, run, note, files, bytes } = snapshot;
	return {
		id,
		parent,
		tag,
		trigger,
		atRest,
		created: isoTime(created),
		run,
		note,
		files,
		bytes,
		current: id === position,
	};
}

/** What stands over the rows of snapshots. */
export const SNAPSHOT_HEADER = ['', 'ID', 'PARENT', 'TAKEN', 'TRIGGER', 'FILES', 'SIZE', 'TAG', 'NOTE'] as const;

/** A snapshot as a row below SNAPSHOT_HEADER. */
export function snapshotRow(snapshot: Snapshot, position: number): string[] {
	const { id, parent, tag, trigger, atRest, created, note, files, bytes } = snapshot;
	return [
		id === position ? '*' : '',
		String(id),
		parent === null ? '-' : String(parent),
		timeText(created),
		atRest ? trigger : `${trigger} (mid-operation)`,
		String(files),
		sizeText(bytes),
		tag ?? '',
		note ?? '',
	];
}

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contentOf, memoryInode } from '../../test/support/memory-trees.ts';
import type { Inode, Time } from '../base/inode.ts';
import type { Origin } from '../store/origins.ts';
import { type Drift, driftOf, isAsStarted } from './drift.ts';

const at = (sec: number, nsec = 0): Time => ({ sec, nsec });

function origin(text: string | null, fields: Partial<Origin> = {}): Origin {
	return {
		path: 'f',
		kind: text === null ? 'absent' : 'file',
		mode: 0o644,
		size: text?.length ?? 0,
		mtime: at(10),
		ctime: at(10),
		target: null,
		hash: text === null ? null : createHash('sha256').update(text).digest(),
		blob: null,
		trusted: true,
		...fields,
	};
}

function host(text: string, fields: Partial<Inode> = {}): [Inode, string] {
	return [memoryInode('file', { size: text.length, mtime: at(10), ctime: at(10), ...fields }), text];
}

function drift(theirs: [Inode, string] | null, from: Origin | null, seenAt: Time | null = null): Drift {
	return driftOf(theirs?.[0] ?? null, { origin: from, seenAt }, () => contentOf(Buffer.from(theirs?.[1] ?? '')));
}

describe('driftOf', () => {
	it('trusts size and times and does not read', () => {
		const read = () => {
			throw new Error('read');
		};
		expect(driftOf(host('a')[0], { origin: origin('a'), seenAt: null }, read)).toBe('none');
	});

	it.each<[what: string, theirs: [Inode, string] | null, from: Origin | null, expected: Drift]>([
		['other content of the same size', host('b', { ctime: at(20) }), origin('a'), 'content'],
		['another size', host('bb', { ctime: at(20) }), origin('a'), 'content'],
		['a new mtime alone', host('a', { mtime: at(20), ctime: at(20) }), origin('a'), 'attributes'],
		['a new ctime alone', host('a', { ctime: at(20) }), origin('a'), 'attributes'],
		['another mode', host('a', { mode: 0o600, ctime: at(20) }), origin('a'), 'mode'],
		['another kind', [memoryInode('fifo'), ''], origin('a'), 'content'],
		['deleted', null, origin('a'), 'content'],
		['still absent', null, origin(null), 'none'],
		['appeared', host('a'), origin(null), 'content'],
		['recorded too late', host('a'), origin('a', { trusted: false }), 'unknown'],
		['content that was never read', host('a', { ctime: at(20) }), origin('a', { hash: null }), 'content'],
		[
			'a directory that got names',
			[memoryInode('directory', { mode: 0o755, mtime: at(20), ctime: at(20) }), ''],
			origin('', { kind: 'directory', mode: 0o755 }),
			'none',
		],
		[
			'another link',
			[memoryInode('symlink', { target: 'y', ctime: at(20) }), ''],
			origin('', { kind: 'symlink', target: 'x' }),
			'content',
		],
	])('%s', (_, theirs, from, expected) => {
		expect(drift(theirs, from)).toBe(expected);
	});

	it('takes what was not recorded for unchanged only when it is older than the session’s last look at it', () => {
		expect(drift(host('a', { ctime: at(10) }), null, at(11))).toBe('none');
		expect(drift(host('a', { ctime: at(11) }), null, at(11))).toBe('unknown');
		expect(drift(host('a', { ctime: at(10) }), null)).toBe('unknown');
		expect(drift(null, null)).toBe('none');
	});
});

describe('isAsStarted', () => {
	it('compares kind and content, not times', () => {
		const read = () => contentOf(Buffer.from('a'));
		expect(isAsStarted(host('a', { mtime: at(99) })[0], origin('a'), read)).toBe(true);
		expect(isAsStarted(host('b')[0], origin('b'), read)).toBe(false);
		expect(isAsStarted(null, origin(null), read)).toBe(true);
		expect(isAsStarted(null, origin('a'), read)).toBe(false);
	});
});

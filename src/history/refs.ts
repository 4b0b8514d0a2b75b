import { Refusal } from '../base/refusal.ts';

/** A point of history as a user names it, before it is looked up. */
export type Ref =
	/** The host directory beneath the session, as it is. */
	| { readonly kind: 'base' }
	/** `@`, and `@~2` for two snapshots back from it. */
	| { readonly kind: 'now'; readonly back: number }
	/** `12`, and `12~1` for the snapshot before it. */
	| { readonly kind: 'snapshot'; readonly id: number; readonly back: number }
	/** `before-merge`, and `before-merge~1`. */
	| { readonly kind: 'tag'; readonly tag: string; readonly back: number };

/** A point of history that is there: the host, the present, or a snapshot's number. */
export type Point = 'base' | 'now' | number;

/** What a ref needs to know of history; a Store is one. */
export interface RefStore {
	readonly snapshots: {
		get(id: number): { readonly id: number; readonly parent: number | null } | null;
		byTag(tag: string): { readonly id: number } | null;
	};
	readonly head: {
		/** `position`: the snapshot that the present grew from; `changed`: whether the present differs from it. */
		values(): { readonly position: number; readonly changed: boolean };
	};
}

/** The point that a ref names. Throws Refusal `invalid` for one that is malformed or not there. */
export function resolveRef(store: RefStore, text: string): Point {
	const ref = parseRef(text);
	switch (ref.kind) {
		case 'base':
			return 'base';
		case 'now':
			return ref.back === 0 ? 'now' : goBack(store, text, ...beforeNow(store, ref.back));
		case 'snapshot':
			return goBack(store, text, store.snapshots.get(ref.id)?.id ?? null, ref.back);
		case 'tag':
			return goBack(store, text, store.snapshots.byTag(ref.tag)?.id ?? null, ref.back);
	}
}

/** What a user's ref says. Throws Refusal `invalid` when it says nothing. */
export function parseRef(text: string): Ref {
	const match = /^(@|[^@~]+)(?:~(\d*))?$/u.exec(text);
	const name = match?.[1];
	if (match === null || name === undefined) throw malformed(text);
	const steps = match[2];
	const back = steps === undefined ? 0 : steps === '' ? 1 : Number(steps);
	if (name === '@') return { kind: 'now', back };
	if (name === 'base') {
		if (steps !== undefined) throw malformed(text);
		return { kind: 'base' };
	}
	return /^\d+$/.test(name) ? { kind: 'snapshot', id: Number(name), back } : { kind: 'tag', tag: name, back };
}

/** Throws Refusal `usage` unless the text can be a tag: one that no other ref could be taken for. */
export function checkTag(tag: string): void {
	const reason =
		tag === ''
			? 'it is empty'
			: /^\d+$/.test(tag)
				? 'it is all digits, like a snapshot’s number'
				: tag === 'base'
					? 'base means the host directory'
					: /[@~]/.test(tag)
						? 'it holds @ or ~'
						: /\p{Cc}/u.test(tag)
							? 'it holds a control character'
							: null;
	if (reason === null) return;
	throw new Refusal('usage', 'bad-tag', `${JSON.stringify(tag)} can't be a tag: ${reason}`, {
		hint: 'choose a name such as before-merge',
	});
}

/** From the present, the first step back is the position, unless the present is that very state. */
function beforeNow({ snapshots, head }: RefStore, back: number): [id: number | null, back: number] {
	const { position, changed } = head.values();
	return [snapshots.get(position)?.id ?? null, changed ? back - 1 : back];
}

function goBack({ snapshots }: RefStore, text: string, start: number | null, back: number): number {
	let id = start;
	for (let step = 0; step < back && id !== null; step++) id = snapshots.get(id)?.parent ?? null;
	if (id === null || snapshots.get(id) === null) {
		const reason = start === null ? 'no such snapshot or tag' : 'history does not go back that far';
		throw new Refusal('invalid', 'unknown-ref', `${text}: ${reason}`, {
			hint: '`dropcloth list` shows the snapshots and their tags',
		});
	}
	return id;
}

function malformed(text: string): Refusal {
	return new Refusal('invalid', 'bad-ref', `${JSON.stringify(text)} names no point of history`, {
		hint: 'use a snapshot’s number, a tag, @ for the present, @~2 for two snapshots back, or base',
	});
}

/**
 * The language of the channel, by which what runs inside asks its owner for something: one line, one answer of one line.
 * Whatever stands in a line was written by something hostile.
 */

/** Longest line in bytes, its end included. */
export const CHANNEL_LINE_BYTES = 200;

/** What can be asked for: it can only add to history. */
export const CHANNEL_REQUESTS = {
	/** A snapshot of now; the word is its label. */
	checkpoint: { word: 'a label', holds: isLabel },
} as const satisfies Record<string, { readonly word: string; holds(text: string): boolean }>;

export type ChannelVerb = keyof typeof CHANNEL_REQUESTS;

/** One request. */
export interface ChannelRequest {
	readonly verb: ChannelVerb;
	readonly word: string | null;
}

/** What a label may be, in words. */
export const LABEL_RULE = '1 to 64 letters, digits, punctuation marks and spaces, with none at the ends';

/** Whether a text may be a label: it can do nothing to a terminal, and is one line. */
export function isLabel(text: string): boolean {
	return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u.test(text) && text.trim() === text;
}

/** The line of a request, its end included. */
export function channelLine({ verb, word }: ChannelRequest): string {
	return word === null ? `${verb}\n` : `${verb} ${word}\n`;
}

/** A line without its end as a request; a text that says what is wrong with it otherwise. */
export function parseChannelLine(line: Uint8Array): ChannelRequest | string {
	const text = utf8(line);
	if (text === null) return 'the line is not UTF-8';
	const space = text.indexOf(' ');
	const verb = space < 0 ? text : text.slice(0, space);
	if (!isVerb(verb)) return `unknown request; there is: ${Object.keys(CHANNEL_REQUESTS).join(', ')}`;
	const word = space < 0 ? null : text.slice(space + 1);
	const { holds, word: what } = CHANNEL_REQUESTS[verb];
	return word === null || holds(word) ? { verb, word } : `that is not ${what}: ${LABEL_RULE}`;
}

/** What the owner answers. */
export type ChannelAnswer =
	/** The snapshot was made. */
	| { readonly kind: 'ok'; readonly snapshot: number }
	/** Nothing differs from the snapshot that is there. */
	| { readonly kind: 'unchanged'; readonly snapshot: number }
	/** Too many were asked for in too short a time. */
	| { readonly kind: 'limited' }
	| { readonly kind: 'refused'; readonly why: string };

/** The line of an answer, its end included. */
export function answerLine(answer: ChannelAnswer): string {
	switch (answer.kind) {
		case 'ok':
		case 'unchanged':
			return `${answer.kind} ${answer.snapshot}\n`;
		case 'limited':
			return 'limited\n';
		case 'refused':
			return `refused ${answer.why}\n`;
	}
}

/** A line without its end as an answer; null when it is none. */
export function parseAnswer(line: string): ChannelAnswer | null {
	const [, kind, number] = /^(ok|unchanged) (\d{1,15})$/.exec(line) ?? [];
	if (kind === 'ok' || kind === 'unchanged') return { kind, snapshot: Number(number) };
	if (line === 'limited') return { kind: 'limited' };
	return line.startsWith('refused ') ? { kind: 'refused', why: line.slice('refused '.length) } : null;
}

function isVerb(text: string): text is ChannelVerb {
	return Object.hasOwn(CHANNEL_REQUESTS, text);
}

function utf8(bytes: Uint8Array): string | null {
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (error) {
		if (error instanceof TypeError) return null;
		throw error;
	}
}

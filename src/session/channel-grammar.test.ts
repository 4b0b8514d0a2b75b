import { describe, expect, test } from 'vitest';
import { answerLine, type ChannelAnswer, channelLine, parseAnswer, parseChannelLine } from './channel-grammar.ts';

const parse = (line: string | Uint8Array) => parseChannelLine(typeof line === 'string' ? Buffer.from(line) : line);

describe('a request', () => {
	test.each(['a', 'tests pass', 'Grüße, 世界!', '100 % & <more> "so" \\n', 'a'.repeat(64), '😀'.repeat(40)])(
		'may have the label %j',
		(word) => {
			expect(parse(`checkpoint ${word}`)).toEqual({ verb: 'checkpoint', word });
			expect(parse(channelLine({ verb: 'checkpoint', word }).slice(0, -1))).toEqual({ verb: 'checkpoint', word });
		},
	);

	test('needs none', () => {
		expect(parse('checkpoint')).toEqual({ verb: 'checkpoint', word: null });
		expect(channelLine({ verb: 'checkpoint', word: null })).toBe('checkpoint\n');
	});

	test.each([
		'',
		' ',
		'checkpoint ',
		'checkpoint  x',
		'checkpoint x ',
		'checkpoint\tx',
		'checkpoint \u001b[2J',
		'checkpoint a\u0000b',
		'checkpoint a\rb',
		'checkpoint \u202egpj.exe',
		'checkpoint a\u2028b',
		'checkpoint a\u200db',
		'checkpoint \ue000',
		`checkpoint ${'a'.repeat(65)}`,
		'Checkpoint',
		'\ufeffcheckpoint',
		'restore 1',
		'undo',
		'__proto__',
		'constructor x',
		'toString',
		'{"verb":"stop"}',
		'GET / HTTP/1.1',
	])('is not %j', (line) => {
		expect(parse(line)).toEqual(expect.any(String));
	});

	test('is not what is no UTF-8', () => {
		for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f]]) {
			expect(parse(Buffer.concat([Buffer.from('checkpoint '), Buffer.from(bytes)]))).toBe('the line is not UTF-8');
		}
	});
});

test('an answer is read as it was given, and nothing else is one', () => {
	const answers: ChannelAnswer[] = [
		{ kind: 'ok', snapshot: 12 },
		{ kind: 'unchanged', snapshot: 1 },
		{ kind: 'limited' },
		{ kind: 'refused', why: 'this run takes no checkpoints' },
	];
	for (const answer of answers) expect(parseAnswer(answerLine(answer).slice(0, -1))).toEqual(answer);
	for (const line of ['', 'ok', 'ok x', 'ok 1 2', 'limited 3', 'refused']) expect(parseAnswer(line)).toBeNull();
});

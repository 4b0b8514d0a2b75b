import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { CannotFreeze, ControlChannel } from './control-channel.ts';

/** A launcher that answers each letter with what is given for it. */
function launcher(answers: Readonly<Record<string, string>>): Duplex {
	return new Duplex({
		read() {},
		write(letters, _encoding, done) {
			for (const letter of String(letters)) this.push(answers[letter]);
			done();
		},
	});
}

test('a freeze says what it took', async () => {
	const channel = new ControlChannel(launcher({ F: 'frozen 480 procs 3 rounds 2\n' }));
	expect(await channel.freeze()).toEqual({ microseconds: 480, processes: 3, rounds: 2 });
});

test.each([
	['thawed', true],
	['thawed-before', false],
	['thawed-disturbed', false],
])('a thaw answered with %s was undisturbed: %s', async (answer, undisturbed) => {
	expect(await new ControlChannel(launcher({ T: `${answer}\n` })).thaw()).toEqual({ undisturbed });
});

test('what the launcher tells unasked is the end of the command, and no answer', async () => {
	const channel = new ControlChannel(launcher({ F: 'waiting 2\nfrozen 1 procs 1 ro', T: 'unds 1\nthawed\n' }));
	const frozen = channel.freeze();
	await channel.waiting;
	expect(await Promise.all([channel.thaw(), frozen])).toEqual([
		{ undisturbed: true },
		{ microseconds: 1, processes: 1, rounds: 1 },
	]);
});

test('an error is thrown with the words of the launcher', async () => {
	const channel = new ControlChannel(launcher({ F: 'error 110 some process did not stop in time\n', T: 'error 1\n' }));
	await expect(channel.freeze()).rejects.toThrow(CannotFreeze);
	await expect(channel.freeze()).rejects.toThrow('error 110 some process did not stop in time');
	await expect(channel.thaw()).rejects.toThrow("'error 1'");
});

test('requests that nobody answers any more fail', async () => {
	const channel = new ControlChannel(launcher({}));
	const thaw = expect(channel.thaw()).rejects.toThrow('the sandbox has ended');
	channel.close();
	await thaw;
});

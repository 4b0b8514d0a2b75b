import { expect, test } from 'vitest';
import { sampleRoot } from '../../test/support/sample-spec.ts';
import { channelBind } from './channel-place.ts';

test('the channel is seen in /run when that is made anew, else in /dev; read-only in any case', () => {
	const source = '/store/sessions/a/session.db.d/channel.sock';
	const request = { source, covers: ['/tmp', '/run'], roots: [sampleRoot('project', '/run/dropcloth/a')], binds: [] };
	const bind = (target: string) => ({ source: '/x', target, directory: true, writable: true, reason: '--bind' });
	expect(channelBind(request)).toMatchObject({ source, target: '/run/dropcloth.sock', writable: false });
	for (const change of [
		{ covers: ['/tmp'] },
		{ binds: [bind('/run')] },
		{ binds: [bind('/run/dropcloth.sock')] },
		{ roots: [sampleRoot('project', '/run')] },
	]) {
		expect(channelBind({ ...request, ...change })).toMatchObject({ target: '/dev/dropcloth.sock', writable: false });
	}
	expect(channelBind({ ...request, binds: [bind('/run/user')] }).target).toBe('/run/dropcloth.sock');
});

import { expect, test } from 'vitest';
import { argumentsOf, processTree } from '../../test/support/process-tree.ts';
import { until } from '../../test/support/until.ts';
import { NameResolver } from './name-resolver.ts';

/** The processes of resolvers of this process. */
function resolvers(): number[] {
	return processTree(process.pid).filter((pid) =>
		argumentsOf(pid).some((word) => word.includes("require('node:dns')")),
	);
}

test('names of /etc/hosts have their addresses, names that are none a code, and two askers one answer', async () => {
	using resolver = new NameResolver();
	const asked = [resolver.addressesOf('localhost'), resolver.addressesOf('localhost')];
	const [first, second] = await Promise.all(asked);
	expect(first).toContain('127.0.0.1');
	expect(second).toBe(first);
	await expect(resolver.addressesOf('no-such-name.invalid')).rejects.toMatchObject({
		code: expect.stringMatching(/^(ENOTFOUND|EAI_\w+)$/),
	});
});

test('its process is there from the first name on, and ends with it; what is asked is rejected', async () => {
	const resolver = new NameResolver();
	expect(resolvers()).toEqual([]);
	await resolver.addressesOf('localhost');
	expect(resolvers()).toHaveLength(1);
	const pending = resolver.addressesOf('no-such-name.invalid');
	resolver[Symbol.dispose]();
	await expect(pending).rejects.toMatchObject({ code: 'ECANCELED' });
	await until('it is gone', () => resolvers().length === 0);
	await expect(resolver.addressesOf('localhost')).rejects.toMatchObject({ code: 'ECANCELED' });
});

test('one that was killed is followed by another', async () => {
	using resolver = new NameResolver();
	await resolver.addressesOf('localhost');
	const [pid = 0] = resolvers();
	process.kill(pid, 'SIGKILL');
	await until('it is gone', () => !resolvers().includes(pid));
	const again = (): Promise<readonly string[]> => resolver.addressesOf('localhost').catch(() => again());
	expect(await again()).toContain('127.0.0.1');
});

import { expect, test } from 'vitest';
import { presentAccount } from '../../test/support/accounts.ts';
import { mayMount, sameIds, sandboxUser } from './user-facts.ts';

test('root may mount when it has the capability, as in a container it has not', () => {
	expect(mayMount('CapInh:\t0\nCapEff:\t000001ffffffffff\n')).toBe(true);
	expect(mayMount('CapInh:\t0\nCapEff:\t00000000a80425fb\n')).toBe(false);
	expect(mayMount('')).toBe(false);
});

test('each extent of a map is mapped to itself', () => {
	expect(sameIds('         0          0 4294967295\n')).toBe('0 0 4294967295');
	expect(sameIds('         0       1001          1\n         1     100000      65536\n')).toBe('0 0 1\n1 1 65536');
});

test('the present user is who runs this', () => {
	const { uid, gid } = presentAccount();
	expect(sandboxUser()).toMatchObject({ uid, gid });
});

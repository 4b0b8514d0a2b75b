import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Outside } from './reach-target.ts';

/** The world as this machine sees it: names as its own programs resolve them, /etc/hosts included. */
export const outside: Outside = {
	async addressesOf(name) {
		const found = await lookup(name, { all: true, verbatim: true });
		return found.map(({ address }) => address);
	},
	isOwn: (address) =>
		Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address) === true),
};

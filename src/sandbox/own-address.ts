import { networkInterfaces } from 'node:os';

/** Whether an address is one of this machine's own. */
export function isOwnAddress(address: string): boolean {
	return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address) === true);
}

import * as crypto from 'node:crypto';

/** SHA-256 of some bytes, 32 bytes long. One call is a third faster than a Hash object, where Node has it. */
export const sha256: (data: Uint8Array) => Buffer =
	typeof crypto.hash === 'function'
		? (data) => crypto.hash('sha256', data, 'buffer')
		: (data) => crypto.createHash('sha256').update(data).digest();

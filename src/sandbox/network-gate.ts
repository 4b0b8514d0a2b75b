import { once } from 'node:events';
import { DescriptorChannel } from '../host/receive-descriptor.ts';
import type { NameResolver } from './name-resolver.ts';
import type { AllowList, NetworkAccess } from './network-access.ts';
import type { NetworkProxy } from './network-proxy.ts';

/**
 * The way out of a sandbox that may reach some hosts: the launcher makes the listening socket inside and hands it over by
 * {@link theirs}; this process answers on it. Connections that come before {@link open} wait in the socket's queue.
 */
export class NetworkGate {
	readonly #list: AllowList;
	readonly #notify: (text: string) => void;
	readonly #channel = new DescriptorChannel();
	#names: NameResolver | null = null;
	#proxy: NetworkProxy | null = null;

	/** What a launch needs for this access; null when that is nothing. Throws PosixError when there are no descriptors left. */
	static for(network: NetworkAccess, notify: (text: string) => void): NetworkGate | null {
		return typeof network === 'string' ? null : new NetworkGate(network, notify);
	}

	private constructor(list: AllowList, notify: (text: string) => void) {
		this.#list = list;
		this.#notify = notify;
	}

	/** The launcher's end of the channel, for its descriptor 7. */
	get theirs(): number {
		return this.#channel.theirs;
	}

	/** Once the launcher is started, which has its own copy. */
	closeTheirs(): void {
		this.#channel.closeTheirs();
	}

	/** To be called when the mounts are made: the socket has been handed over by then. */
	async open(): Promise<void> {
		const [{ NetworkProxy: HttpProxy }, { NameResolver: Resolver }, { isOwnAddress }] = await Promise.all([
			import('./network-proxy.ts'),
			import('./name-resolver.ts'),
			import('./own-address.ts'),
		]);
		const names = new Resolver();
		this.#names = names;
		const outside = { addressesOf: (name: string) => names.addressesOf(name), isOwn: isOwnAddress };
		const proxy = new HttpProxy({ list: this.#list, outside, notify: this.#notify });
		this.#proxy = proxy;
		proxy.server.listen({ fd: this.#channel.receive() });
		await once(proxy.server, 'listening');
	}

	/** Ends every connection; nothing gets out any more. */
	[Symbol.dispose](): void {
		this.#channel[Symbol.dispose]();
		this.#proxy?.close();
		this.#names?.[Symbol.dispose]();
	}
}

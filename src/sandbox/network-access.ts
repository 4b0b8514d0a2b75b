/** One host that may be reached, as `--net` names it. */
export interface AllowedHost {
	/** An address, a name, or every name below one (`*.example.com`). */
	readonly kind: 'address' | 'name' | 'below';
	/** As {@link parseHost} gives it: of `*.example.com`, `example.com`. */
	readonly host: string;
	/** Null: every port. */
	readonly ports: readonly number[] | null;
}

/** The hosts that may be reached through the owner's proxy; nothing else can be. */
export type AllowList = readonly AllowedHost[];

/** What of the network there is inside: the machine's own, nothing but a loopback, or some hosts. */
export type NetworkAccess = 'host' | 'none' | AllowList;

/** Where the owner's proxy listens inside: in a network of its own, every port is free. */
export const PROXY_ADDRESS = '127.0.0.1';
export const PROXY_PORT = 3128;

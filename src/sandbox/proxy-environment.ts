import { type NetworkAccess, PROXY_ADDRESS, PROXY_PORT } from './network-access.ts';

/** Whether a variable leads programs to a proxy, or past one: outside it is another one, or none can be reached. */
export function leadsToProxy(name: string): boolean {
	return PROXY_VARIABLE.test(name);
}

/**
 * The variables that lead programs to the owner's proxy; none without one. Servers inside are reached directly, but for a
 * name of the loopback that the allow-list has: by that one, it is the host's loopback that is meant.
 */
export function proxyEnvironment(network: NetworkAccess): Record<string, string> {
	if (network === 'host' || network === 'none') return {};
	const direct = LOOPBACK.filter((name) => !network.some(({ host }) => host === name)).join();
	const proxy = `http://${PROXY_ADDRESS}:${PROXY_PORT}`;
	const values = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct };
	return Object.fromEntries(
		Object.entries(values).flatMap(([name, value]) => [
			[name, value],
			[name.toLowerCase(), value],
		]),
	);
}

/** Of programs in general, and what npm reads in their place. */
const PROXY_VARIABLE = /^(npm_config_)?((https?|ftp|all|no|rsync|socks|wss?)[-_]?)?proxy$/i;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

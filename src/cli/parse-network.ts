import type { NetworkAccess } from '../sandbox/network-access.ts';

/** What `--net` asks for. Throws Refusal 'usage' that names the entry that is none. */
export async function parseNetwork(text: string): Promise<NetworkAccess> {
	if (text === 'host' || text === 'none') return text;
	const { parseAllowList } = await import('../sandbox/allow-list.ts');
	return parseAllowList(text);
}

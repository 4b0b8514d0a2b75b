import { userInfo } from 'node:os';
import type { Account } from './accounts.ts';

/**
 * Does `work` in this process with the account's effective ids and no further groups, so that the kernel allows what it
 * allows that user, and gives root's back. Needs no child, but `work` must be synchronous.
 */
export function asAccount<T>(account: Account, work: () => T): T {
	if (userInfo().uid !== 0 || account.uid === 0) return work();
	const { setgroups, setegid, seteuid } = process;
	if (setgroups === undefined || setegid === undefined || seteuid === undefined) {
		throw new Error('this platform has no effective ids');
	}
	const groups = process.getgroups?.() ?? [];
	setgroups([account.gid]);
	setegid(account.gid);
	seteuid(account.uid);
	try {
		return work();
	} finally {
		seteuid(0);
		setegid(0);
		setgroups(groups);
	}
}

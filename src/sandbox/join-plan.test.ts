import { expect, test } from 'vitest';
import { buildJoinPlan } from './join-plan.ts';
import { NO_LIMITS } from './limits.ts';

const target = { limits: NO_LIMITS, init: 4711, initStart: '123456', cwd: '/home/ada/project' };

test('a user joins with ids of its own and no capabilities', () => {
	const user = { uid: 1001, gid: 1002, privileged: false, uidMap: '', gidMap: '' };
	const plan = buildJoinPlan({ ...target, user, command: ['git', 'log', '-1'] });
	expect(plan.operations.map((words) => words.join(' '))).toEqual([
		'join 4711 123456',
		'cmd-map 1001 0 1 1002 0 1',
		'caps 0',
		'confine seccomp,landlock-sockets',
		'chdir /home/ada/project',
		'exec 3 git log -1',
	]);
	expect(plan.mounts).toEqual([]);
});

test('root joins with the ids and capabilities of the first command', () => {
	const user = { uid: 0, gid: 0, privileged: true, uidMap: '0 0 4294967295', gidMap: '0 0 4294967295' };
	const plan = buildJoinPlan({ ...target, user, command: ['sh'] });
	expect(plan.operations.slice(1, 3)).toEqual([
		['cmd-map', '0 0 4294967295', '0 0 4294967295'],
		['caps', '2147484923'],
	]);
});

test('the limits of the sandbox hold for what joins: its group is entered first, each process is limited last', () => {
	const user = { uid: 1001, gid: 1002, privileged: false, uidMap: '', gidMap: '' };
	const limits = { cgroup: '/sys/fs/cgroup/app/dropcloth-1-2', each: { data: 4096, nproc: 7 } };
	const lines = buildJoinPlan({ ...target, user, limits, command: ['sh'] }).operations.map((words) => words.join(' '));
	expect(lines[0]).toBe('cgroup /sys/fs/cgroup/app/dropcloth-1-2');
	expect(lines.slice(-4)).toEqual([
		'rlimit data 4096 4096',
		'rlimit nproc 7 7',
		'chdir /home/ada/project',
		'exec 1 sh',
	]);
});

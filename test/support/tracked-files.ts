import { execFileSync } from 'node:child_process';
import { PROJECT } from './source-files.ts';

/** Files of this repository that git knows or would add, by a pattern, as paths from its root. */
export function trackedFiles(pattern: string): string[] {
	const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', pattern];
	const names = execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' }).split('\0');
	return names.filter((name) => name !== '');
}

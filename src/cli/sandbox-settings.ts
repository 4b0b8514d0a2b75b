import { resolve } from 'node:path';
import { CHECKPOINT_TIMES } from '../base/settings.ts';
import type { SandboxSetting } from '../session/join-terms.ts';
import type { CliContext } from './context.ts';
import { SANDBOX_FLAGS, type SandboxFlags } from './sandbox-options.ts';

/** Flags of the one command, which says nothing of the sandbox. */
const OF_THE_COMMAND: readonly string[] = ['env', 'passEnv', 'clearEnv', 'showBinds', 'timeout', 'force'];

const FLAGS = Object.keys(SANDBOX_FLAGS) as (keyof SandboxFlags)[];
const PATHS = new Set(['bind', 'roBind', 'mask', 'unmask']);
const SIZES = new Set(['quota', 'memory']);
/** What these are when they are left out. */
const TIMES_MS = new Map<string, number>([
	['quiet', CHECKPOINT_TIMES.quietMs],
	['checkpointInterval', CHECKPOINT_TIMES.intervalMs],
]);

/** Every flag that decides what the sandbox is, as it is set for this command line. */
export function sandboxSettings({ cwd, given }: CliContext, flags: SandboxFlags): SandboxSetting[] {
	return FLAGS.filter((name) => !OF_THE_COMMAND.includes(name)).map((name) => ({
		flag: `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
		value: valueText(name, flags[name], cwd),
		given: given.has(name),
	}));
}

/** Equal for what means the same: paths in whatever order, `auto` and what is left out for what it comes to. */
function valueText(name: keyof SandboxFlags, value: unknown, cwd: string): string {
	const usualMs = TIMES_MS.get(name);
	if (usualMs !== undefined) return `${value ?? usualMs}ms`;
	if (value === undefined) return 'none';
	if (name === 'mountBackend') return 'kernel';
	if (SIZES.has(name)) return `${value} bytes`;
	if (!Array.isArray(value)) return String(value);
	const texts = PATHS.has(name) ? value.map((path: string) => resolve(cwd, path)) : value.map(String);
	return texts.length === 0 ? 'none' : [...new Set(texts)].sort().join(', ');
}

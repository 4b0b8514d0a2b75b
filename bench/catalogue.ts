import type { Benchmark } from './harness/benchmark.ts';

/** Every benchmark by its name, loaded when it is run; in the order in which all are. */
export const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
	'run-true': async () => (await import('./run-true.ts')).runTrue,
	launcher: async () => (await import('./launcher.ts')).launcher,
	freeze: async () => (await import('./freeze.ts')).freeze,
	'live-snapshot': async () => (await import('./live-snapshot.ts')).liveSnapshot,
	'new-files-snapshot': async () => (await import('./new-files-snapshot.ts')).newFilesSnapshot,
	'watcher-cost': async () => (await import('./watcher-cost.ts')).watcherCost,
	restore: async () => (await import('./restore.ts')).restore,
	'live-restore': async () => (await import('./live-restore.ts')).liveRestore,
	diff: async () => (await import('./diff.ts')).diff,
	'history-size': async () => (await import('./history-size.ts')).historySize,
	'day-of-work': async () => (await import('./day-of-work.ts')).dayOfWork,
	'versioned-writes': async () => (await import('./versioned-writes.ts')).versionedWrites,
	'ingest-memory': async () => (await import('./ingest-memory.ts')).ingestMemory,
	'cargo-build': async () => (await import('./cargo-build.ts')).cargoBuild,
	'git-status': async () => (await import('./git-status.ts')).gitStatus,
	'git-phases': async () => (await import('./git-phases.ts')).gitPhases,
	'node-work': async () => (await import('./node-work.ts')).nodeWork,
};

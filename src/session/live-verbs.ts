import type { ControlHandlers } from './control-verbs.ts';
import type { LiveRun } from './live-run.ts';
import { insertSnapshot } from './snapshot-session.ts';

/** What the owner of a live session does when it is asked on its control socket. */
export function liveVerbs(run: LiveRun): ControlHandlers {
	return {
		ping: () => ({ pid: process.pid, argv: run.facts.argv }),
		stop: () => {
			run.facts.notify(`session ${run.session.id} is stopped by \`dropcloth stop\``);
			run.stop();
			return { stopped: true };
		},
		snap: ({ tag = null, note = null, force = false }) =>
			run.takeIn(({ atRest, frozenMs }) => {
				const meta = { trigger: 'manual', tag, note, force, atRest, run: run.run } as const;
				const { id, files, bytes } = insertSnapshot(run.session, meta);
				return { id, files, bytes, frozenMs };
			}),
		restore: async ({ restore, dryRun = false, expected = null }) => {
			const { previewLiveRestore, restoreLive } = await import('./live-restore.ts');
			return { report: await (dryRun ? previewLiveRestore(run, restore) : restoreLive(run, restore, expected)) };
		},
		join: (request, hold) => run.joined.admit(request, hold),
		'take-in': () => run.takeIn(() => ({ takenIn: true })),
	};
}

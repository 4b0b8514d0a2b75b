/**
 * Works on a session in a process of its own, which may be told to die at a crash point: STORE WHAT COUNT. Says how many
 * crash points it passed.
 */
import { argv, stdout } from 'node:process';
import { armCrash, passedCrashPoints } from '../../src/host/crash-point.ts';
import { KernelLive } from '../../src/session/kernel-live.ts';
import { planRestore } from '../../src/session/plan-restore.ts';
import { restoreSession } from '../../src/session/restore-session.ts';
import { OwnedSession } from '../../src/session/session.ts';
import { placeInStore } from '../../src/session/session-place.ts';
import { takeSnapshot } from '../../src/session/snapshot-session.ts';

const [storePath, what, count] = argv.slice(2);
if (storePath === undefined) throw new Error('usage: STORE open|snap|restore|lay-out COUNT');
const place = placeInStore(storePath, 's');
armCrash(Number(count));
const session = await OwnedSession.open(place, () => {});
if (what === 'snap') takeSnapshot(session, { trigger: 'manual' });
if (what === 'restore') {
	const scope = { paths: [], withHome: true };
	const plan = planRestore(session, { ref: '2' }, scope);
	if (plan === null) throw new Error('snapshot 2 cannot be planned');
	restoreSession(session, plan, scope);
}
if (what === 'lay-out') session.live = KernelLive.fromStore(place, session.store);
session.close();
stdout.write(`${passedCrashPoints().length}\n`);

/** Applies, goes on with, takes back or undoes an apply in a process of its own, which may be told to die: PLACE WHAT COUNT. */
import { argv, stdout } from 'node:process';
import { abortApply, continueApply, undoApply } from '../../src/apply/resume-apply.ts';
import { armCrash, passedCrashPoints } from '../../src/host/crash-point.ts';
import { ApplyRig } from './apply-rig.ts';

const [place, what, count] = argv.slice(2);
if (place === undefined) throw new Error('usage: PLACE apply|continue|abort|undo COUNT');
const rig = new ApplyRig({ opened: place });
const options = { clock: rig.clock };
armCrash(Number(count));
if (what === 'apply') rig.apply();
if (what === 'continue') continueApply(rig.store, rig.hosted, options);
if (what === 'abort') abortApply(rig.store, rig.hosted);
if (what === 'undo') undoApply(rig.store, rig.hosted, options);
stdout.write(`${passedCrashPoints().length}\n`);
armCrash(null);
rig.close();

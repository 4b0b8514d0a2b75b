import { mkdirSync } from 'node:fs';
import { gatherSpec } from '../../src/sandbox/gather-spec.ts';
import { makeLayerDirectories } from '../../src/sandbox/layer-directories.ts';
import { NO_LIMITS } from '../../src/sandbox/limits.ts';
import { buildPlan } from '../../src/sandbox/plan.ts';
import type { Plan } from '../../src/sandbox/plan-writer.ts';
import type { SandboxRoot } from '../../src/sandbox/sandbox-spec.ts';
import type { Place } from './place.ts';
import { PROJECT } from './project.ts';

/** The plan that a run of this command in the place's project gets, without a session around it. */
export function sandboxPlan(place: Place, command: readonly string[], control: boolean): Plan {
	mkdirSync(place.store, { recursive: true });
	const root = (role: SandboxRoot['role'], path: string): SandboxRoot => {
		const layer = place.join('home/store', role);
		return { role, path, lowers: [path], upper: `${layer}/upper`, work: `${layer}/work` };
	};
	const spec = gatherSpec({
		sessionId: 'bench',
		roots: [root('project', place.project), root('home', place.home)],
		home: place.home,
		cwd: place.project,
		reads: 'home',
		network: 'host',
		mask: [],
		unmask: [],
		bind: [],
		roBind: [],
		storePath: place.store,
		channel: null,
		installed: [process.execPath, PROJECT],
		force: false,
		lock: null,
		control,
		limits: NO_LIMITS,
		command,
	});
	makeLayerDirectories(spec);
	return buildPlan(spec);
}

import type { Clock } from '../base/clock.ts';
import type { BackendChoice } from '../sandbox/backend.ts';
import type { EnvironmentRequest } from '../sandbox/environment.ts';
import type { Outcome } from '../sandbox/launch.ts';
import type { LimitRequest } from '../sandbox/limits.ts';
import type { Plan } from '../sandbox/plan-writer.ts';
import type { SandboxRequest } from '../sandbox/sandbox-request.ts';
import type { SignalTaker } from '../sandbox/signals.ts';
import type { CheckpointTimes } from './checkpoint-clock.ts';
import type { EndReason } from './early-end.ts';
import type { SandboxSetting } from './join-terms.ts';
import type { RunTrace, SnapshotPolicy } from './live-run.ts';
import type { RunTarget } from './run-target.ts';
import type { Notify } from './session.ts';

/** A command to be run in a session. */
export interface RunRequest {
	readonly target: RunTarget;
	/** What the sandbox is to be, but for what the session itself decides. */
	readonly sandbox: Omit<SandboxRequest, 'sessionId' | 'roots' | 'channel' | 'lock' | 'control' | 'limits'>;
	readonly environment: Pick<EnvironmentRequest, 'outer' | 'set' | 'pass' | 'clear'>;
	readonly snapshots: SnapshotPolicy;
	/** When snapshots are taken while the command goes on, by a policy that wants any. */
	readonly checkpoints: CheckpointTimes;
	/** After which the command is ended; null lets it take as long as it wants. */
	readonly timeoutMs: number | null;
	/** Bytes of disk that the layer may take; null for as many as there are. */
	readonly quotaBytes: number | null;
	readonly limits: LimitRequest;
	readonly backend: BackendChoice;
	/** All flags that decide what the sandbox is: a command that joins has to agree. */
	readonly settings: readonly SandboxSetting[];
	/** Path of the launcher's binary. */
	readonly launcher: string;
	readonly notify: Notify;
	/** Called with the plan before anything is mounted. */
	readonly onPlan?: (plan: Plan) => void;
	/** Called when the command joins the run of another process. */
	readonly onJoin?: (owner: { readonly pid: number; readonly argv: readonly string[] }) => void;
	/** Called just before the launcher is started, such as to pass signals on to it; disposed when it has ended. */
	readonly onLaunch?: (launched: SignalTaker) => Disposable;
	/** Called when the command has ended and joined ones have not; `stop` ends them. */
	readonly onWaiting?: (stop: () => void) => void;
	readonly clock?: Clock;
}

/** How a run ended. */
export interface RunOutcome {
	readonly outcome: Outcome;
	readonly trace: RunTrace;
	/** Whether it joined the sandbox of another run, which is not over with it. */
	readonly joined: boolean;
	/** Why the command was ended, whatever it then ended with; null when it ended by itself. */
	readonly endedFor: EndReason | null;
}

/** What can take a signal. */
export interface SignalTaker {
	kill(signal: NodeJS.Signals): void;
}

/**
 * Passes on the signals that are sent to this process, until disposed. What a terminal sends (Ctrl-C, Ctrl-\\) reaches the
 * command by itself, as it is in the same foreground group: those are only kept from ending this process. Without a terminal
 * nobody else gets them, so they are passed on too.
 */
export function forwardSignals(to: SignalTaker, hasTerminal: boolean): Disposable {
	const handlers = new Map<NodeJS.Signals, () => void>();
	for (const signal of SENT_BY_PROGRAMS) handlers.set(signal, () => to.kill(signal));
	for (const signal of SENT_BY_TERMINALS) handlers.set(signal, hasTerminal ? () => {} : () => to.kill(signal));
	for (const [signal, handler] of handlers) process.on(signal, handler);
	return {
		[Symbol.dispose]() {
			for (const [signal, handler] of handlers) process.off(signal, handler);
		},
	};
}

const SENT_BY_PROGRAMS = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
const SENT_BY_TERMINALS = ['SIGINT', 'SIGQUIT'] as const;

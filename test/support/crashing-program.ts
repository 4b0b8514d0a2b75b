/** The command line, which dies at a crash point once it is told how many to pass. */
import { armCrash } from '../../src/host/crash-point.ts';

process.on('message', (count) => {
	armCrash(Number(count));
	process.send?.('armed');
});
process.channel?.unref();
await import('../../src/cli/main.ts');

/** Says whether this process may write the store now: `written`, or the code of the refusal. Gives up quickly. */
import { Refusal } from '../../src/base/refusal.ts';
import { Store } from '../../src/store/store.ts';

const store = Store.open(process.argv[2] as string, 'log');
store.db.exec('pragma busy_timeout=50');
try {
	store.write(() => store.config.set('pin', 'theirs'));
	process.stdout.write('written\n');
} catch (error) {
	if (!(error instanceof Refusal)) throw error;
	process.stdout.write(`${error.code}\n`);
}
store.close();

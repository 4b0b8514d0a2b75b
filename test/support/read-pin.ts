/** Says what a fresh process reads from the store, and folds the -wal if it may. */
import { Store } from '../../src/store/store.ts';

const store = Store.open(process.argv[2] as string, 'tree');
process.stdout.write(`${store.config.get('pin')}\n`);
store.close();

/** Does all of WORK in a new store, says a line for each piece that is done and durable, and dies at the n-th statement. */

import { writeSync } from 'node:fs';
import { kill, pid } from 'node:process';
import { Store } from '../../src/store/store.ts';
import { beginWork, WORK } from './store-work.ts';
import { watchedDriver } from './watched-driver.ts';

const [path, statement] = process.argv.slice(2) as [string, string];
let left = Number.POSITIVE_INFINITY;
const driver = watchedDriver(() => {
	left -= 1;
	if (left === 0) kill(pid, 'SIGKILL');
});
const store = Store.create(path, {}, { driver });
const root = beginWork(store);
left = Number(statement);
for (const [name, work] of WORK) {
	work(store, root);
	store.durable();
	writeSync(1, `${name}\n`);
}

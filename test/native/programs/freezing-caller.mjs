// freezing-caller LAUNCHER PLAN PROGRESS TIMES: starts the launcher on this terminal; when the file PROGRESS is there, freezes
// and thaws so many times, each after the file has grown, says so, and ends as the launcher does.
import { spawn } from 'node:child_process';
import { openSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

const [, , launcher, plan, progress, times] = process.argv;
const child = spawn(launcher, [String(process.pid)], {
	stdio: ['inherit', 'inherit', 'inherit', openSync(plan, 'r'), openSync('/dev/null', 'w'), 'pipe'],
	cwd: '/',
});
child.on('exit', (code) => process.exit(code));

const answers = createInterface({ input: child.stdio[5] })[Symbol.asyncIterator]();
async function ask(request, answer) {
	child.stdio[5].write(request);
	const { value } = await answers.next();
	if (!value?.startsWith(answer)) throw new Error(`asked ${request}: ${value}`);
}

const size = () => statSync(progress, { throwIfNoEntry: false })?.size ?? 0;
async function growth() {
	for (const before = size(); size() === before; ) await setTimeout(1);
}

for (let time = 0; time < Number(times); time++) {
	await growth();
	await ask('F', 'frozen ');
	const frozen = size();
	await setTimeout(0);
	if (size() !== frozen) throw new Error('something wrote while frozen');
	await ask('T', 'thawed');
}
await growth();
console.log(`froze ${times} times`);

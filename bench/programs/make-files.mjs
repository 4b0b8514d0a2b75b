// Writes COUNT files of BYTES bytes each, a hundred to a directory: node make-files.mjs DIRECTORY COUNT BYTES SEED [EVERY]
// Each content is different, and differs with the seed. With EVERY, only each EVERY-th of the files is written.
import { mkdirSync, writeFileSync } from 'node:fs';

const [, , directory, ...numbers] = process.argv;
const [count, bytes, seed, every = 1] = numbers.map(Number);
for (let file = 0; file < count; file += every) {
	const folder = `${directory}/d${Math.floor(file / 100)}`;
	if (file % 100 === 0) mkdirSync(folder, { recursive: true });
	const text = `file ${file} of seed ${seed}\n`;
	writeFileSync(`${folder}/f${file % 100}`, text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes));
}

import { expect } from 'vitest';
import type { SessionRig } from './session-rig.ts';

/** Something that an agent makes in a project that holds a file `base`. */
export interface HostileTree {
	readonly what: string;
	/** Makes it; a script for sh, as is `look`, whose output says exactly what is there. */
	readonly make: string;
	readonly look: string;
	/** False where an apply would take minutes: it syncs each file. */
	readonly applied?: boolean;
}

const CONTROL = /(?![\t\n])\p{Cc}/u;

/** Has it made in a session, looked at again, undone, redone, told and applied, each time exactly. */
export function withstand(rig: SessionRig, { make, look: script, applied = true }: HostileTree): void {
	const look = `{ ${script}\n} || true`;
	rig.sh('echo base > base');
	rig.inside('true');
	const before = rig.sh(look);
	rig.inside(make);
	const made = rig.inside(look);
	expect(made).not.toBe(before);
	expect(rig.cli.json<{ changed: boolean }>(['status', 'project']).changed).toBe(false);
	rig.cli.json(['undo', 'project', '--yes']);
	expect(rig.inside(look)).toBe(before);
	rig.cli.json(['redo', 'project', '--yes']);
	expect(rig.inside(look)).toBe(made);
	const commands = [
		['diff', 'project', '--name-status'],
		...(applied ? [['apply', 'project', '--yes', '--allow-exec']] : []),
	];
	for (const args of commands) {
		const ran = rig.cli.run(args);
		expect(ran.code, ran.stderr).toBe(0);
		// names are told so that a terminal does not obey them
		expect(ran.stdout + ran.stderr).not.toMatch(CONTROL);
	}
	expect(rig.sh(look)).toBe(applied ? made : before);
	expect(rig.sh('cat base')).toBe('base\n');
}

const python = (program: string) => `python3 - <<'END'\nimport os\n${program}\nEND`;

/** Everything but the times, and the size on the disk where that could be large. */
const LOOK = `find . -mindepth 1 -printf '%P|%y|%m|%s|%l\\n' | LC_ALL=C sort | sha256sum; find . -type f -perm /400 -exec sha256sum {} + | LC_ALL=C sort | sha256sum`;

export const HOSTILE_TREES: readonly HostileTree[] = [
	{
		what: '2,000 empty files',
		make: 'mkdir many; cd many; seq 2000 | xargs touch',
		look: 'ls many 2>/dev/null | wc -l',
	},
	{
		what: 'a sparse file of 10 GB',
		make: 'truncate -s 10G big; printf x | dd of=big bs=1 seek=5000000000 conv=notrunc status=none',
		look: 'stat -c %s big 2>/dev/null; [ ! -e big ] || [ $(stat -c %b big) -lt 1000 ] && echo small; [ ! -e big ] || dd if=big bs=1 skip=5000000000 count=1 status=none',
	},
	{
		what: 'a path of 4,000 bytes, and directories deeper than a path can be',
		make: python(`
for _ in range(39): os.mkdir('d' * 100); os.chdir('d' * 100)
open('f' * 50, 'w').write('deep')
for _ in range(20): os.mkdir('e' * 200); os.chdir('e' * 200)
open('g', 'w').write('deeper')`),
		look: 'find . -type f -execdir cat {} \\; ; find . -printf x | wc -c',
	},
	{
		what: 'a file that is rewritten 1,000 times, grown, cut and renamed',
		make: python(`
for n in range(1000):
    with open('f', 'w') as f: f.write(str(n))
    if n % 100 == 0: os.rename('f', 'g'); os.rename('g', 'f')
    if n % 50 == 0: os.truncate('f', 1 << 20)`),
		look: 'cat f 2>/dev/null; ls',
	},
	{
		what: 'names of all bytes, the longest, and those that a terminal would obey',
		make: python(`
os.mkdir('names'); os.chdir(b'names')
for byte in range(1, 256):
    if byte not in b'/.': open(bytes([byte]), 'wb').write(bytes([byte]))
for name in (b'x' * 255, b'\\xff' * 255, b'-rf', b'\\x1b]0;title\\x07', b'\\x1b[2J\\x1b[21t', b'two\\nlines', b' ', b'...', b'a\\\\b', b'\\xc3\\x28', 'e\\u0301'.encode(), '\\u00e9'.encode(), '\\u202etxt.exe'.encode(), b'CON', b'.git '):
    open(name, 'wb').write(name)
    os.symlink(name, name[:250] + b'.link')`),
		look: LOOK,
	},
	{
		what: 'what its owner may not read, enter or write',
		make: 'mkdir -p a/b c; echo 1 > a/b/f; echo 2 > c/f; echo 3 > g; chmod 000 g c/f; chmod 000 a/b; chmod 500 c; chmod 300 a',
		look: 'for p in . a a/b c c/f g; do stat -c "%n %a" $p 2>/dev/null; done | grep -v "^[.] "',
	},
	{
		what: 'links in a circle, to nowhere, to devices and out, and one as long as can be',
		make: `ln -s a b; ln -s b a; ln -s . here; ln -s /dev/zero zero; ln -s /proc/self/root root; ln -s ../.. up; ln -s "$(printf %04090d 0)" long; mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'`,
		look: "find . -mindepth 1 ! -type s -printf '%P|%y|%l\\n' | LC_ALL=C sort",
	},
	{
		what: 'a thousand names of one file, and attributes as large as can be',
		make: python(`
open('f', 'w').write('one')
for n in range(1000): os.link('f', f'l{n}')
os.setxattr('f', 'user.large', b'v' * 3000)
for n in range(20): os.setxattr('base', f'user.n{n}', b'x' * 40)
os.removexattr('base', 'user.n3')`),
		look: 'stat -c %h f 2>/dev/null; getfattr -d -m user. f base 2>/dev/null | sha256sum; ls | wc -l',
	},
	{
		what: 'another root: without permissions, with all, and set-uid files in it',
		make: 'cp /bin/true tool; chmod 6755 tool; chmod 777 .; chmod 1777 .; mkdir s; chmod 2775 s',
		look: 'stat -c "%n %a" . tool s 2>/dev/null | grep -v "^[.] 755"',
	},
];

/** The same in the numbers that an agent in a loop gets to. */
export const HUGE_TREES: readonly HostileTree[] = [
	{
		what: '100,000 empty files in one directory, and 10,000 directories',
		make: 'mkdir many; cd many; seq 100000 | xargs touch; mkdir d; cd d; seq 10000 | xargs mkdir',
		look: 'find . | wc -l',
		applied: false,
	},
	{
		what: 'a file that is rewritten a million times',
		make: python(`
f = os.open('f', os.O_RDWR | os.O_CREAT)
for n in range(1000000): os.pwrite(f, b'%020d' % n, n % 1000 * 20)`),
		look: 'sha256sum f 2>/dev/null',
	},
	{
		what: 'ten sparse files of a terabyte',
		make: 'for n in $(seq 10); do truncate -s 1T $n; printf $n | dd of=$n bs=1 seek=900000000000 conv=notrunc status=none; done',
		look: 'stat -c "%n %s" [0-9]* 2>/dev/null; for n in [0-9]*; do tail -c +900000000001 $n 2>/dev/null | head -c 2; done',
	},
];

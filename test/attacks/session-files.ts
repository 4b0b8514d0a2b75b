import { type Attack, silent } from './attack.ts';

/** The session's own files and its channel. */
export const SESSION_FILES: readonly Attack[] = [
	silent(
		'the channel taken away, opened to others or replaced',
		`s=$DROPCLOTH_SOCKET
		chmod 0 $s && echo 1; chmod 777 $s && echo 2; chown 1 $s && echo 3; touch $s && echo 4; rm -f $s && [ ! -e $s ] && echo 5; mv $s $s.old && echo 6; ln $s /tmp/s && echo 7
		echo x > $s && echo 8; umount -l $s && echo 9; setfattr -n user.x -v 1 $s && echo 10; mv /tmp/new $s && echo 11; [ -S $s ] || echo gone`,
	),
	{
		name: 'the channel asked for what it must not do',
		script: `python3 -c '
import os, socket
for line in (b"restore 1\\n", b"{\\"verb\\":\\"restore\\"}\\n", b"stop\\n", b"freeze\\n", b"apply\\n", b"../../etc\\n", b"\\0\\0\\n", b"x" * 100000):
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(os.environ["DROPCLOTH_SOCKET"])
    try: s.sendall(line); s.shutdown(1); answer = s.recv(1000)
    except OSError: answer = b""
    if b"\\"ok\\":true" in answer or answer.startswith(b"ok"): print(line[:20], answer)
print("end")'`,
		seen: 'end\n',
	},
	silent(
		'commands on sessions, its own among them',
		`for c in "restore attacked 1 --yes" "undo attacked --yes" "apply attacked --yes" "discard attacked --yes" "discard other --yes" "stop attacked" "gc other"; do "$NODE" "$PROGRAM" $c && echo $c; done
		DROPCLOTH_HOME=$RIG/home/store "$NODE" "$PROGRAM" ps | grep -E "attacked|other"; DROPCLOTH_HOME=$RIG/home/store "$NODE" "$PROGRAM" quick . -- true && echo ran`,
	),
	silent(
		'the program itself',
		'for f in "$PROGRAM" "$NODE" "$INSTALLED/native/"*; do echo x >> "$f" && echo "$f"; chmod 777 "$f" && echo "$f"; rm -f "$f"; [ -e "$f" ] || echo "$f gone"; done; touch "$INSTALLED/x" && echo 1',
	),
	silent(
		'session databases by any name',
		'find $RIG ~ -name "session.db*"; find $RIG ~ -path "*/layers/*" -name upper | head -1',
	),
];

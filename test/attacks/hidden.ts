import { type Attack, silent } from './attack.ts';

/** Seeing what is hidden. The harness looks for SECRET in everything that any attack prints. */
export const HIDDEN: readonly Attack[] = [
	{
		name: 'credentials',
		script:
			'cat ~/.ssh/id ~/.netrc ~/.config/gh/hosts.yml ~/.aws/credentials ~/.docker/config.json 2>/dev/null; ls -A ~/.ssh ~/.aws ~/.config/gh ~/.docker | grep -v :; true',
		seen: /^\n*$/,
	},
	{
		name: 'a masked file by a link to it',
		script: 'ln ~/.netrc mine; ln -s ~/.netrc soft; cat soft; cp -l ~/.netrc ~/mine; ln ~/.ssh/id mine',
		seen: /cross-device.*cross-device.*No such file/s,
	},
	{ name: 'a masked place written', script: 'echo x > ~/.netrc; touch ~/.ssh/x', seen: /Read-only.*Read-only/s },
	{
		name: 'a masked place that is uncovered by its parent’s removal',
		script: 'rm -rf ~/.aws ~/.docker; ls -A ~/.aws',
		seen: /busy/,
	},
	silent(
		'the store, and sessions in it',
		'ls -A $RIG/home/store; touch $RIG/home/store/x && echo 1; mkdir $RIG/home/store/sessions && echo 2',
	),
	silent(
		'what masks places',
		'ls -A /dev/.empty; touch /dev/.empty/x && echo 1; echo x > /dev/.none && echo 2; chmod 777 /dev/.none && echo 3',
	),
	silent('files in the host’s private places', 'ls -A $MARKERS'),
	{
		name: 'the staging of the launcher',
		script: 'ls -A /dev | tr "\\n" " "',
		seen: '.empty .none fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ',
	},
	silent(
		'files by their inode, on devices and by handles',
		'debugfs -R "cat /etc/shadow" /dev/vda; python3 -c "import ctypes; l=ctypes.CDLL(None, use_errno=True); h=(ctypes.c_ubyte*136)(128); m=ctypes.c_int(); r=l.name_to_handle_at(-100, b\'/etc/passwd\', h, ctypes.byref(m), 0); f=l.open_by_handle_at(3, h, 0); print(f) if f >= 0 else None"',
	),
	silent(
		'what others may not read',
		'[ "$(id -u)" = 0 ] || cat /etc/shadow; strings /proc/kcore | head -1; head -c 1 /dev/mem; cat /proc/keys; cat /proc/timer_list',
	),
];

import { VARIABLES_READ } from '../src/base/settings.ts';
import { VERSION } from '../src/cli/version-facts.ts';
import { commandHelps, exitCodes } from './manual.ts';

/** docs/man/dropcloth.1, in the man(7) macros. */
export async function manPage(): Promise<string> {
	const commands = await commandHelps();
	return [
		`.TH DROPCLOTH 1 "" "dropcloth ${VERSION}" "User Commands"`,
		'.SH NAME',
		'dropcloth \\- run an AI agent over a directory and take it all back',
		'.SH SYNOPSIS',
		'.B dropcloth',
		'.I COMMAND',
		'[\\fIARGUMENT\\fR]... [\\fB\\-\\-json\\fR] [\\fB\\-\\-store\\fR \\fIDIR\\fR] [\\fB\\-\\-\\fR \\fIPROGRAM\\fR...]',
		'.SH DESCRIPTION',
		'A command runs over a real directory: it reads the real files, and every write lands in a session, which is one SQLite file.',
		'Every state can be listed, compared, restored, undone and, only when asked, applied to the directory.',
		'.SH COMMANDS',
		...commands.flatMap(({ name, help }) => [`.SS ${name}`, '.nf', ...help.split('\n').map(roff), '.fi']),
		'.SH EXIT STATUS',
		...exitCodes().flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, roff(meaning)]),
		'.SH ENVIRONMENT',
		...VARIABLES_READ.flatMap(({ name, meaning, otherwise }) => [
			'.TP',
			`.B ${name}`,
			roff(`${meaning}. Otherwise: ${otherwise}.`.replaceAll('`', '')),
		]),
		'',
	].join('\n');
}

/** A line as roff prints it unchanged: no escapes, no leading control character, hyphens that can be copied. */
function roff(line: string): string {
	return line
		.replaceAll('\\', '\\e')
		.replaceAll('-', '\\-')
		.replace(/^[.']/, '\\&$&')
		.replaceAll('’', '\\(cq')
		.replaceAll('…', '...');
}

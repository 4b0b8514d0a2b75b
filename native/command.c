#include "command.h"

#include "cgroup.h"
#include "confine.h"
#include "identity.h"
#include "init.h"
#include "join.h"
#include "life-line.h"
#include "limits.h"
#include "operations.h"
#include "outer.h"
#include "overlay.h"
#include "report.h"
#include "syscall.h"

enum { LONGEST_PATH = 4096, CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

char **environment;

static bool is_same_name(const char *a, const char *b) {
	while (*a && *a == *b && *a != '=') a++, b++;
	return *a == '=' && *b == '=';
}

/* Another value for a variable that is there: for bytes that the caller cannot hand over in an environment. */
void op_setenv(char **operand, int extra) {
	(void)extra;
	for (char **variable = environment; *variable; variable++)
		if (is_same_name(*variable, operand[0])) *variable = operand[0];
}

static const char *directory = "/";
static struct operation_mark directory_mark;

void op_chdir(char **operand, int extra) {
	(void)extra;
	directory = operand[0];
	directory_mark = current_operation;
}

/* A file that the kernel does not know how to run is a script of the shell if its first line is text, as bash does. */
static bool is_shell_script(const char *path) {
	char start[128];
	int fd = (int)sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0) return false;
	long length = sys_read(fd, start, sizeof start);
	sys_close(fd);
	for (long i = 0; i < length && start[i] != '\n'; i++)
		if (start[i] == 0) return false;
	return length >= 0;
}

/* execve(2) of one path, and of /bin/sh with it when it is a script without an interpreter line. Returns the error. */
static long execute(char *path, char **arguments, int count) {
	static char *shell_arguments[(1 << 18) + 2];
	long error = sys_execve(path, arguments, environment);
	if (error != -ENOEXEC || !is_shell_script(path)) return error;
	shell_arguments[0] = "/bin/sh";
	shell_arguments[1] = path;
	for (int i = 1; i <= count; i++) shell_arguments[i + 1] = arguments[i];
	sys_execve("/bin/sh", shell_arguments, environment);
	return error;
}

static const char *search_path(void) {
	for (char **variable = environment; *variable; variable++) {
		const char *text = *variable;
		if (text[0] == 'P' && text[1] == 'A' && text[2] == 'T' && text[3] == 'H' && text[4] == '=') return text + 5;
	}
	return "/usr/local/bin:/usr/bin:/bin";
}

/* A directory of PATH and a name, or false when that is too long. An empty entry is the current directory. */
static bool join(struct line *path, const char *entry, size_t length, const char *name) {
	start_line(path, "");
	if (length + text_length(name) + 2 > sizeof path->bytes) return false;
	for (size_t i = 0; i < length; i++) path->bytes[path->length++] = entry[i];
	add_text(path, length ? "/" : "./");
	add_text(path, name);
	return true;
}

static _Noreturn void not_executed(long error, bool exists) {
	report_number("exec-failed", -error);
	quit(exists ? CANNOT_EXECUTE : NOT_FOUND);
}

/*
 * Replaces this process by the command. A name without a slash is searched along PATH. EACCES may come from a
 * directory of PATH that can't be searched: only a file that is there can't be executed (126), else it is not
 * found (127).
 */
static _Noreturn void execute_command(char **arguments, int count) {
	char *name = arguments[0];
	bool has_slash = false;
	for (const char *letter = name; *letter; letter++) has_slash = has_slash || *letter == '/';
	if (has_slash) {
		long error = execute(name, arguments, count);
		not_executed(error, sys_faccessat(AT_FDCWD, name) == 0);
	}
	if (!*name) not_executed(-ENOENT, false);

	long first_error = 0;
	for (const char *entry = search_path();; entry++) {
		struct line path;
		size_t length = 0;
		while (entry[length] && entry[length] != ':') length++;
		if (join(&path, entry, length, name)) {
			long error = execute(path.bytes, arguments, count);
			if (!first_error && sys_faccessat(AT_FDCWD, path.bytes) == 0) first_error = error;
		}
		entry += length;
		if (!*entry) break;
	}
	not_executed(first_error ? first_error : -ENOENT, first_error != 0);
}

/*
 * Without Landlock's signal scope a `kill 0` inside would reach the caller's pipeline, so the command leads a group of
 * its own, as a joined one always does. Such a group is given the terminal if the caller's had it.
 */
static void take_own_group(void) {
	must(sys_setpgid(0, 0), "setpgid");
	int group = sys_getpid();
	if (owns_terminal) sys_ioctl(0, TIOCSPGRP, &group);
}

/* PID 1 can only name this process as its /proc does, whichever pid namespace that belongs to. */
static void be_mapped(int line) {
	char name[32], done;
	long length = must(sys_readlinkat(AT_FDCWD, "/proc/self", name, sizeof name), "/proc/self");
	sys_write(line, name, (size_t)length);
	if (sys_read(line, &done, 1) != 1) quit(LAUNCHER_FAILED);
}

/* A process that joins was killed with the sandbox, whatever went wrong with it then; else it ends with the line. */
static void look_for_end_of_sandbox(int line) {
	int status;
	sys_close(line);
	if (has_joined() && sys_wait4(-1, &status, 0) > 0 && (status & 127) == SIGKILL) fail_joining();
}

static void map_child(int line) {
	char name[32];
	long length = sys_read(line, name, sizeof name - 1);
	if (length <= 0) {
		look_for_end_of_sandbox(line);
		quit(LAUNCHER_FAILED); /* it has reported why */
	}
	name[length] = 0;
	struct line file;
	long error = identity_write_maps(name, &file);
	if (error < 0) {
		look_for_end_of_sandbox(line);
		fail(error, file.bytes);
	}
	sys_write(line, "x", 1);
}

static _Noreturn void become_command(int line, bool own_group, char **arguments, int count) {
	if (has_cgroup()) enter_cgroup();
	if (identity_is_mapped()) be_mapped(line);
	if (own_group) take_own_group();
	identity_drop_capabilities();
	current_operation = directory_mark;
	must(sys_chdir(directory), directory);
	sys_umask(caller_umask);
	confine_self();
	sys_rt_sigprocmask(SIG_SETMASK, 0);
	if (has_joined()) {
		be_bound_to_joiner(line);
		sys_write(line, "b", 1);
	}
	limits_set();
	/* All but the report, which closes itself at execve. */
	sys_close_range(PLAN_FD, REPORT_FD - 1);
	sys_close_range(REPORT_FD + 1, ~0u);
	struct line started;
	start_line(&started, "started");
	report_line(&started);
	execute_command(arguments, count);
}

/* operand: N, then the N words of the command; the plan's array is followed by room for the NULL that execve wants. */
void op_exec(char **operand, int extra) {
	if (extra < 1) fail(-EINVAL, "a command has at least one word");
	char **arguments = operand + 1;
	arguments[extra] = NULL;
	bool own_group = has_joined() || !confine_scopes_signals();
	struct operation_mark mark = current_operation;
	int ends[2];
	must(sys_socketpair(ends), "socketpair");
	/* Before there is a command that the terminal could send something to. */
	if (own_group && !owns_terminal) sys_write(life_line, &(char){FORWARD_ALL}, 1);
	/* A run before may have been killed while it was frozen. */
	if (has_cgroup() && !has_joined()) thaw_cgroup();
	int command = (int)sys_fork(identity_is_mapped() ? CLONE_NEWUSER : 0);
	/* In a pid namespace without its PID 1 no process can be made: pid_namespaces(7). */
	if (has_joined() && command == -ENOMEM) fail_joining();
	must(command, "clone");
	if (!command) {
		sys_close(ends[0]);
		become_command(ends[1], own_group, arguments, extra);
	}
	sys_close(ends[1]);
	if (identity_is_mapped()) map_child(ends[0]);
	current_operation = mark;
	if (has_joined()) run_joined(command, ends[0]);
	sys_close(ends[0]);
	report_layers();
	run_init(command, own_group);
}

#include "places.h"

#include "identity.h"
#include "operations.h"
#include "report.h"
#include "syscall.h"

enum { LONGEST_PATH = 4096, ALL_MODE_BITS = 07777 };

int open_place(const char *path, int flags) {
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	return (int)must(sys_openat2(AT_FDCWD, path, &how), path);
}

int find_place(const char *path) {
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	long fd = sys_openat2(AT_FDCWD, path, &how);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP) return -1;
	if (fd == -EACCES && identity_is_caller_alone()) return -1;
	return (int)must(fd, path);
}

int open_parent(const char *path, const char **name) {
	char parent[LONGEST_PATH];
	size_t length = text_length(path), slash = length;
	while (slash > 0 && path[slash - 1] != '/') slash--;
	if (slash == 0 || slash == length) fail(-EINVAL, path);
	if (slash > sizeof parent - 1) fail(-ENAMETOOLONG, path);
	for (size_t i = 0; i < slash; i++) parent[i] = path[i];
	parent[slash] = 0;
	*name = path + slash;
	return open_place(parent, O_DIRECTORY);
}

void write_file(const char *path, const char *text) {
	must(try_write_file(path, text), path);
}

long try_write_file(const char *path, const char *text) {
	int fd = (int)sys_openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0) return fd;
	long written = sys_write(fd, text, text_length(text));
	sys_close(fd);
	return written;
}

void op_mkdir(char **operand, int extra) {
	(void)extra;
	const char *name;
	unsigned mode = (unsigned)must_number(operand[1], ALL_MODE_BITS);
	int parent = open_parent(operand[0], &name);
	long result = sys_mkdirat(parent, name, mode);
	if (result != -EEXIST) must(result, operand[0]);
	sys_close(parent);
}

void op_file(char **operand, int extra) {
	(void)extra;
	const char *name;
	unsigned mode = (unsigned)must_number(operand[1], ALL_MODE_BITS);
	int parent = open_parent(operand[0], &name);
	long result = sys_openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (result != -EEXIST) sys_close((int)must(result, operand[0]));
	sys_close(parent);
}

void op_symlink(char **operand, int extra) {
	(void)extra;
	const char *name;
	int parent = open_parent(operand[1], &name);
	must(sys_symlinkat(operand[0], parent, name), operand[1]);
	sys_close(parent);
}

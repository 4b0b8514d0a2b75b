/* Stepping into namespaces, and what of them needs setting up. */
#include "namespaces.h"

#include "join.h"
#include "operations.h"
#include "report.h"
#include "syscall.h"

static const struct {
	const char *name;
	/* In /proc/PID/ns. */
	const char *file;
	uint64_t flag;
} namespaces[] = {
	{"user", "user", CLONE_NEWUSER}, {"mount", "mnt", CLONE_NEWNS}, {"pid", "pid", CLONE_NEWPID},
	{"ipc", "ipc", CLONE_NEWIPC},    {"uts", "uts", CLONE_NEWUTS},  {"net", "net", CLONE_NEWNET},
};

static size_t list_entries(const char *list) {
	size_t entries = *list != 0;
	for (; *list; list++) entries += *list == ',';
	return entries;
}

bool unshared_for_init;

void op_unshare(char **operand, int extra) {
	(void)extra;
	uint64_t flags = 0;
	size_t known = 0;
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
		if (list_has(operand[0], namespaces[i].name)) flags |= namespaces[i].flag, known++;
	if (known != list_entries(operand[0])) fail(-EINVAL, "an unknown namespace");
	must(sys_unshare(flags), operand[0]);
	unshared_for_init = (flags & CLONE_NEWNS) && (flags & CLONE_NEWPID);
}

/* `KIND:[INODE]` of a namespace of a process. */
static void read_namespace(const char *process, const char *file, char *name, size_t size) {
	struct line path;
	start_line(&path, "/proc/");
	add_text(&path, process);
	add_text(&path, "/ns/");
	add_text(&path, file);
	long length = sys_readlinkat(AT_FDCWD, path.bytes, name, size - 1);
	if (length == -ENOENT || length == -ESRCH) fail_joining();
	name[must(length, path.bytes)] = 0;
}

uint64_t namespaces_that_differ(int pid) {
	struct line process;
	start_line(&process, "");
	add_number(&process, pid);
	uint64_t flags = 0;
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		char theirs[64], ours[64];
		read_namespace(process.bytes, namespaces[i].file, theirs, sizeof theirs);
		read_namespace("self", namespaces[i].file, ours, sizeof ours);
		if (!text_equal(theirs, ours)) flags |= namespaces[i].flag;
	}
	return flags;
}

void op_hostname(char **operand, int extra) {
	(void)extra;
	must(sys_sethostname(operand[0], text_length(operand[0])), operand[0]);
}

/* Brings the loopback interface of a new network namespace up: SIOCSIFFLAGS, netdevice(7). */
void op_lo(char **operand, int extra) {
	(void)operand, (void)extra;
	enum { SIOCSIFFLAGS = 0x8914, IFF_UP = 1, IFF_RUNNING = 0x40 };
	struct {
		char name[16];
		short flags;
		char unused[22];
	} request = {"lo", IFF_UP | IFF_RUNNING, {0}};
	int fd = (int)must(sys_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC), "socket");
	must(sys_ioctl(fd, SIOCSIFFLAGS, &request), "lo");
	sys_close(fd);
}

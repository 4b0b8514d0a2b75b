#include "cgroup.h"

#include "operations.h"
#include "places.h"
#include "report.h"
#include "syscall.h"

static struct operation_mark mark;
static bool is_used;
static int processes, freezer, events;

bool has_cgroup(void) { return is_used; }

static int open_in(int directory, const char *name, int flags) {
	return (int)must(sys_openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, 0), name);
}

/* Opened while the host's view is there. What may be moved into the group is judged by who has opened it here. */
void op_cgroup(char **operand, int extra) {
	(void)extra;
	if (is_used) fail(-EINVAL, "a second group");
	int directory = open_place(operand[0], O_DIRECTORY);
	processes = open_in(directory, "cgroup.procs", O_WRONLY);
	freezer = open_in(directory, "cgroup.freeze", O_WRONLY);
	events = open_in(directory, "cgroup.events", O_RDONLY);
	sys_close(directory);
	is_used = true;
	mark = current_operation;
}

void enter_cgroup(void) {
	current_operation = mark;
	must(sys_write(processes, "0", 1), "cgroup.procs");
}

/* Whether the events have the line `frozen 1`. */
static bool says_frozen(void) {
	static const char wanted[] = "frozen 1\n";
	char text[256];
	sys_lseek(events, 0, 0);
	long length = sys_read(events, text, sizeof text);
	size_t matched = 0;
	for (long at = 0; at < length && matched < sizeof wanted - 1; at++) {
		if (text[at] != wanted[matched]) matched = 0;
		if (text[at] == wanted[matched]) matched++;
	}
	return matched == sizeof wanted - 1;
}

/* The kernel tells of a change of the events by waking those who poll for POLLPRI. */
long freeze_cgroup(long limit_us) {
	long end_us = monotonic_us() + limit_us;
	long written = sys_write(freezer, "1", 1);
	if (written < 0) return written;
	while (!says_frozen()) {
		long rest_us = end_us - monotonic_us();
		if (rest_us <= 0) return -ETIMEDOUT;
		struct pollfd changed = {events, POLLPRI, 0};
		struct __kernel_timespec rest = {rest_us / 1000000, rest_us % 1000000 * 1000};
		sys_ppoll(&changed, 1, &rest);
	}
	return 0;
}

void thaw_cgroup(void) { sys_write(freezer, "0", 1); }

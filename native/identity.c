#include "identity.h"

#include <linux/capability.h>

#include "operations.h"
#include "places.h"
#include "report.h"
#include "syscall.h"

static const char *uid_map, *gid_map;
static struct operation_mark map_mark, caps_mark;
static uint64_t kept_capabilities;
static bool drops_capabilities, caller_alone;

/* The first user namespace: the caller becomes root of it. setgroups has to be denied before, user_namespaces(7). */
void op_map(char **operand, int extra) {
	(void)extra;
	caller_alone = true;
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", operand[0]);
	write_file("/proc/self/gid_map", operand[1]);
}

void op_cmd_map(char **operand, int extra) {
	(void)extra;
	uid_map = operand[0];
	gid_map = operand[1];
	map_mark = current_operation;
}

void op_caps(char **operand, int extra) {
	(void)extra;
	kept_capabilities = must_number(operand[0], UINT64_MAX);
	drops_capabilities = true;
	caps_mark = current_operation;
}

bool identity_is_caller_alone(void) { return caller_alone; }

bool identity_is_mapped(void) { return uid_map != NULL; }

static long write_map(const char *process, const char *name, const char *map, struct line *file) {
	start_line(file, "/proc/");
	add_text(file, process);
	add_text(file, name);
	return try_write_file(file->bytes, map);
}

long identity_write_maps(const char *process, struct line *file) {
	current_operation = map_mark;
	long written = write_map(process, "/gid_map", gid_map, file);
	return written < 0 ? written : write_map(process, "/uid_map", uid_map, file);
}

void identity_drop_capabilities(void) {
	if (!drops_capabilities) return;
	current_operation = caps_mark;
	for (int capability = 0; capability < 64; capability++) {
		if (kept_capabilities >> capability & 1) continue;
		if (sys_prctl(PR_CAPBSET_DROP, (unsigned long)capability, 0) == -EINVAL) break; /* the kernel's last one */
	}
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2]; /* low and high 32 bits */
	must(sys_capget(&header, data), "capget");
	for (int half = 0; half < 2; half++) {
		data[half].permitted &= (uint32_t)(kept_capabilities >> (32 * half));
		data[half].effective = data[half].permitted;
		data[half].inheritable = 0;
	}
	must(sys_capset(&header, data), "capset");
}

#include "limits.h"

#include <asm/resource.h>

#include "operations.h"
#include "report.h"
#include "syscall.h"

static const struct {
	const char *name;
	int resource;
} resources[] = {
	{"as", RLIMIT_AS},         {"core", RLIMIT_CORE},     {"cpu", RLIMIT_CPU},
	{"data", RLIMIT_DATA},     {"memlock", RLIMIT_MEMLOCK}, {"nofile", RLIMIT_NOFILE},
	{"nproc", RLIMIT_NPROC},   {"stack", RLIMIT_STACK},
};

enum { RESOURCES = sizeof resources / sizeof *resources, MOST_LIMITS = 2 * RESOURCES };

static struct {
	int resource;
	struct rlimit64 limit;
	struct operation_mark mark;
} limits[MOST_LIMITS];
static int limit_count;

static int resource_named(const char *name) {
	for (int i = 0; i < RESOURCES; i++)
		if (text_equal(resources[i].name, name)) return resources[i].resource;
	fail(-EINVAL, name);
}

/* As getrlimit(2) has them. Of processes: they are counted in the command's own user namespace, and not for root. */
void op_rlimit(char **operand, int extra) {
	(void)extra;
	if (limit_count == MOST_LIMITS) fail(-E2BIG, "too many limits");
	int resource = resource_named(operand[0]);
	struct rlimit64 limit = {must_number(operand[1], UINT64_MAX), must_number(operand[2], UINT64_MAX)};
	if (limit.rlim_cur > limit.rlim_max) fail(-EINVAL, "a soft limit above the hard one");
	limits[limit_count].resource = resource;
	limits[limit_count].limit = limit;
	limits[limit_count++].mark = current_operation;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Where the caller has a lower limit already, that stays. */
void limits_set(void) {
	for (int i = 0; i < limit_count; i++) {
		struct rlimit64 present, limit = limits[i].limit;
		current_operation = limits[i].mark;
		must(sys_prlimit(limits[i].resource, NULL, &present), "prlimit");
		limit.rlim_max = smaller(limit.rlim_max, present.rlim_max);
		limit.rlim_cur = smaller(limit.rlim_cur, limit.rlim_max);
		must(sys_prlimit(limits[i].resource, &limit, NULL), "prlimit");
	}
}

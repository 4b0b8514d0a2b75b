#include "plan.h"

#include "operations.h"
#include "report.h"
#include "syscall.h"

enum { PLAN_BYTES = 4 << 20, PLAN_WORDS = 1 << 18 };

/*
 * Where in a plan an operation may stand: before the step inside, as this step, after `init` or after either step.
 * Whatever changes mounts is only for PID 1, in a namespace of its own: a command that joins takes the view as it is.
 */
enum place { OUTER, STEP, INNER, COMMAND, LAST };

struct operation {
	const char *name;
	int operands;
	bool counted;
	enum place place;
	operation_function *perform;
};

static const struct operation operations[] = {
	/* Before and with the step into the namespaces. */
	{"lock", 3, false, OUTER, op_lock},           /* FD START LENGTH */
	{"cgroup", 1, false, OUTER, op_cgroup},       /* DIRECTORY */
	{"unshare", 1, false, OUTER, op_unshare},     /* user,mount,pid,ipc,uts,net */
	{"map", 2, false, OUTER, op_map},             /* UID_MAP GID_MAP */
	{"init", 0, false, STEP, op_init},
	{"join", 2, false, STEP, op_join},            /* PID START */
	/* Mounts, in PID 1. */
	{"private", 0, false, INNER, op_private},
	{"overlay", 6, true, INNER, op_overlay},      /* SLOT FLAGS UPPER WORK ATTRIBUTES N LOWER... */
	{"tree", 3, false, INNER, op_tree},           /* SLOT PATH one|rec */
	{"fs", 4, false, INNER, op_fs},               /* SLOT TYPE OPTIONS ATTRIBUTES */
	{"attr", 3, false, INNER, op_attr},           /* SLOT ATTRIBUTES one|rec */
	{"setattr", 3, false, INNER, op_setattr},     /* PATH ATTRIBUTES one|rec */
	{"attach", 2, false, INNER, op_attach},       /* SLOT PATH */
	{"offer", 2, false, INNER, op_offer},         /* SLOT PATH */
	{"bind-from", 4, false, INNER, op_bind_from}, /* FROM TO ATTRIBUTES one|rec */
	{"mask", 3, false, INNER, op_mask},           /* EMPTY_DIRECTORY EMPTY_FILE PATH */
	{"umount", 1, false, INNER, op_umount},       /* PATH */
	{"pivot", 1, false, INNER, op_pivot},         /* NEW_ROOT */
	{"mkdir", 2, false, INNER, op_mkdir},         /* PATH MODE */
	{"file", 2, false, INNER, op_file},           /* PATH MODE */
	{"symlink", 2, false, INNER, op_symlink},     /* TARGET PATH */
	/* The rest of the surroundings. */
	{"hostname", 1, false, INNER, op_hostname},   /* NAME */
	{"lo", 0, false, INNER, op_lo},
	{"listen", 2, false, INNER, op_listen},       /* ADDRESS PORT */
	{"control", 1, false, INNER, op_control},     /* LONGEST_FREEZE_MS */
	/* The command. */
	{"cmd-map", 2, false, COMMAND, op_cmd_map},     /* UID_MAP GID_MAP */
	{"caps", 1, false, COMMAND, op_caps},           /* MASK */
	{"confine", 1, false, COMMAND, op_confine},     /* seccomp,landlock */
	{"rlimit", 3, false, COMMAND, op_rlimit},     /* NAME SOFT HARD */
	{"setenv", 1, false, COMMAND, op_setenv},       /* NAME=VALUE */
	{"chdir", 1, false, COMMAND, op_chdir},         /* PATH */
	{"exec", 1, true, LAST, op_exec},             /* N ARGUMENT... */
};

static char plan[PLAN_BYTES];
static char *words[PLAN_WORDS];
static int word_count;

static _Noreturn void refuse(int index, const char *text, const char *name) {
	struct line line;
	current_operation = (struct operation_mark){index, "plan"};
	start_line(&line, text);
	add_clean(&line, name, 200);
	fail(-EINVAL, line.bytes);
}

static const struct operation *operation_named(const char *name) {
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (text_equal(operations[i].name, name)) return &operations[i];
	return NULL;
}

/* The operands that follow the fixed ones, or -1 when the plan does not hold all that it promises. */
static int extra_operands(const struct operation *operation, int first) {
	uint64_t extra = 0;
	if (operation->operands > word_count - first) return -1;
	if (operation->counted && !parse_number(words[first + operation->operands - 1], &extra)) return -1;
	if (extra > (uint64_t)(word_count - first - operation->operands)) return -1;
	return (int)extra;
}

static void read_words(void) {
	long length = 0, count;
	/* A caller that wrote the file through this very description has left it at its end; a pipe can't seek. */
	sys_lseek(PLAN_FD, 0, 0);
	while ((count = sys_read(PLAN_FD, plan + length, (size_t)(PLAN_BYTES - length))) > 0) length += count;
	must(count, "cannot read the plan");
	if (length == PLAN_BYTES) fail(-E2BIG, "the plan is too long");
	if (length == 0) fail(-EINVAL, "the plan is empty");
	if (plan[length - 1] != 0) fail(-EINVAL, "the plan was cut short: its last word does not end");
	for (long at = 0; at < length; at += (long)text_length(plan + at) + 1) {
		if (word_count == PLAN_WORDS) fail(-E2BIG, "the plan has too many words");
		words[word_count++] = plan + at;
	}
	if (!text_equal(words[0], "plan 1")) fail(-EINVAL, "not a plan of version 1");
}

/* Names, operands and order of all operations. */
static void check_operations(void) {
	bool inside = false, joins = false, ended = false;
	int index = 0;
	for (int at = 1; at < word_count; index++) {
		const char *name = words[at++];
		const struct operation *operation = operation_named(name);
		if (!operation) refuse(index, "unknown operation ", name);
		int extra = extra_operands(operation, at);
		if (extra < 0) refuse(index, "operands are missing after ", name);
		if (ended) refuse(index, "an operation after exec: ", name);
		if (operation->place <= STEP && inside) refuse(index, "must come before init: ", name);
		if (operation->place > STEP && !inside) refuse(index, "must come after init: ", name);
		if (operation->place == INNER && joins) refuse(index, "not for a command that joins: ", name);
		if (operation->place == STEP) inside = true, joins = operation->perform == op_join;
		ended = operation->place == LAST;
		at += operation->operands + extra;
	}
	if (!ended) refuse(index, "the plan ends without exec", "");
}

void plan_read(void) {
	current_operation.name = "plan";
	read_words();
	check_operations();
}

_Noreturn void plan_perform(void) {
	int index = 0;
	for (int at = 1; at < word_count; index++) {
		const struct operation *operation = operation_named(words[at++]);
		int extra = extra_operands(operation, at);
		current_operation = (struct operation_mark){index, operation->name};
		operation->perform(words + at, extra);
		at += operation->operands + extra;
	}
	quit(LAUNCHER_FAILED); /* not reached: check_operations saw that exec is the last */
}

#include "freeze.h"

#include "cgroup.h"
#include "processes.h"
#include "report.h"
#include "syscall.h"

/*
 * Top-down: a process is stopped only after its parent has been seen standing still, so that no shell sees a child
 * stop and takes it for a job that the user suspended. Passes over /proc go on until one finds nothing that runs, and
 * nothing that has just died: each process that ran when a pass began is in its list, and may have left another one.
 *
 * Processes that fork and end faster than they are looked at are never caught so. After a while one signal to all
 * stops them; a shell may then take a job for stopped, which is better than no freeze.
 */
enum {
	MOST_PROCESSES = 1 << 17, /* dead ones counted */
	PID_LIMIT = 1 << 22,      /* PID_MAX_LIMIT of the kernel */
	LIMIT_US = 5000000,
	ALL_AT_ONCE_AFTER_US = 300000,
	NUDGE_AFTER = 8,
	SHORT_WAIT_NS = 50000,
	LONG_WAIT_NS = 500000,
};

enum how {
	BY_FREEZE,
	BEFORE, /* by the user's Ctrl-Z for example: it stays so */
	DEAD,   /* waits to be reaped */
};
static struct seen {
	int pid;
	enum how how;
} seen[MOST_PROCESSES];
static int seen_count, living_count;
static bool frozen;
static long cannot_freeze;
static long start_us;

/* Since when all stands still. */
static long stands_since_us;
/* The last freeze was ended by the launcher, and the owner has not asked since. */
static bool thawed_late;
/* Something outside continued processes that the freeze had stopped. */
static bool was_disturbed;

/* One bit for each pid: it is in `seen`; and it has been seen standing still. */
static uint8_t known[PID_LIMIT / 8], still[PID_LIMIT / 8];
static bool has_bit(const uint8_t *set, int pid) { return set[pid >> 3] >> (pid & 7) & 1; }
static void set_bit(uint8_t *set, int pid) { set[pid >> 3] |= (uint8_t)(1 << (pid & 7)); }

/* All were sent SIGSTOP: what is found stopped is so by the freeze, and has no parent to wait for. */
static bool stopped_all;

void prepare_freeze(void) { cannot_freeze = open_processes(); }
bool is_frozen(void) { return frozen; }

/* The name of PID 1 says it to all that see its /proc, and nobody else can change that. Both have 15 bytes or less. */
static const char *const name_running = "dropcloth-init", *const name_frozen = "dropcloth-still";

static void show_frozen(bool is) {
	frozen = is;
	sys_prctl(PR_SET_NAME, (unsigned long)(is ? name_frozen : name_running), 0);
}

bool is_frozen_by_init(void) {
	char name[32];
	int fd = (int)sys_openat(AT_FDCWD, "/proc/1/comm", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0) return false;
	long length = sys_read(fd, name, sizeof name - 1);
	sys_close(fd);
	if (length <= 0) return false;
	name[length - 1] = 0; /* the newline */
	return text_equal(name, name_frozen);
}

static bool is_over(long limit_us) { return monotonic_us() - start_us > limit_us; }

/* Whether it was stopped and has been seen standing still, now at the latest. */
static bool is_seen_still(int pid) {
	if (has_bit(still, pid)) return true;
	if (!has_bit(known, pid) || !stands_still(pid, false)) return false;
	set_bit(still, pid);
	return true;
}

static void remember(int pid, enum how how) {
	set_bit(known, pid);
	if (how == DEAD) set_bit(still, pid);
	else living_count++;
	seen[seen_count++] = (struct seen){pid, how};
}

static void stop_if_ready(int pid) {
	struct process process = look_at_process(pid);
	if (!process.state) return;
	enum how how = is_dead(process) ? DEAD : process.state == 'T' && !stopped_all ? BEFORE : BY_FREEZE;
	/* Parent 0 is a process that joined from outside, parent 1 an orphan or the command. */
	if (how != DEAD && process.parent > 1 && !stopped_all && !is_seen_still(process.parent)) return;
	if (how == BY_FREEZE) sys_kill(pid, SIGSTOP);
	remember(pid, how);
}

/* What stands stopped already is remembered as such, below a parent that still runs too. */
static void stop_all(const int *pids, int count) {
	for (int i = 1; i < count; i++) /* the first is PID 1 */
		if (seen_count < MOST_PROCESSES && !has_bit(known, pids[i]) && look_at_process(pids[i]).state == 'T')
			remember(pids[i], BEFORE);
	sys_kill(-1, SIGSTOP);
	stopped_all = true;
}

/* One look at all processes: 1 when something moved since the last one, 0 when nothing did, or -errno. */
static long make_pass(void) {
	static int pids[MOST_PROCESSES];
	int count = list_processes(pids, MOST_PROCESSES), unknown = 0;
	if (count < 0) return count;
	if (!stopped_all && is_over(ALL_AT_ONCE_AFTER_US)) stop_all(pids, count);
	for (int i = 0; i < count; i++) {
		int pid = pids[i];
		if (pid == 1 || pid >= PID_LIMIT || has_bit(known, pid)) continue;
		if (seen_count == MOST_PROCESSES) return -ENOMEM;
		stop_if_ready(pid);
		unknown++;
		if (is_over(stopped_all ? LIMIT_US : ALL_AT_ONCE_AFTER_US)) break;
	}
	return unknown > 0;
}

/* Waits until what a pass stopped stands still. */
static long wait_for_pass(int first) {
	for (int i = first; i < seen_count; i++) {
		int pid = seen[i].pid;
		for (int tries = 0; !has_bit(still, pid) && !stands_still(pid, tries > NUDGE_AFTER); tries++) {
			if (is_over(LIMIT_US)) return -ETIMEDOUT;
			sys_nanosleep(tries < NUDGE_AFTER ? SHORT_WAIT_NS : LONG_WAIT_NS);
		}
		set_bit(still, pid);
	}
	return is_over(LIMIT_US) ? -ETIMEDOUT : 0;
}

/* Whether a child of PID 1 was continued since it last stopped, or since it was last asked with FORGET. */
static bool was_child_continued(int forget) {
	siginfo_t info = {.si_pid = 0};
	sys_waitid(P_ALL, 0, &info, WCONTINUED | WNOHANG | forget);
	return info.si_pid != 0;
}

/* The passes made, or -errno. */
static long freeze_by_signals(void) {
	long moved, passes = 0;
	stopped_all = false;
	while (was_child_continued(0)) continue;
	do {
		int first = seen_count;
		passes++;
		moved = make_pass();
		long waited = moved < 0 ? moved : wait_for_pass(first);
		if (waited < 0) return waited;
		/* Only processes below one that is just ending, and nothing to wait for: don't spin. */
		if (moved && first == seen_count) sys_nanosleep(SHORT_WAIT_NS);
	} while (moved);
	return passes;
}

static long freeze_by_cgroup(void) {
	static int pids[MOST_PROCESSES];
	long error = freeze_cgroup(LIMIT_US);
	/* Without its /proc nobody knows how many there are; the group needs none. */
	int count = cannot_freeze ? 0 : list_processes(pids, MOST_PROCESSES);
	living_count = count > 0 ? count - 1 : 0;
	return error ? error : 1;
}

static long freeze(void) {
	if (frozen) return -EALREADY;
	if (!has_cgroup() && cannot_freeze) return cannot_freeze;
	show_frozen(true);
	was_disturbed = thawed_late = false;
	return has_cgroup() ? freeze_by_cgroup() : freeze_by_signals();
}

/* Bottom-up, so that each parent finds its children running. */
void thaw(void) {
	for (int i = seen_count; i-- > 0;) {
		int pid = seen[i].pid;
		known[pid >> 3] = still[pid >> 3] = 0;
		if (seen[i].how == BY_FREEZE) sys_kill(pid, SIGCONT);
	}
	seen_count = living_count = 0;
	if (frozen && has_cgroup()) thaw_cgroup();
	if (frozen) show_frozen(false);
}

long frozen_for_us(void) { return monotonic_us() - stands_since_us; }

void thaw_late(void) {
	thaw();
	thawed_late = true;
}

void disturb_freeze(void) {
	/* What a group keeps frozen, no signal continues. */
	if (has_cgroup()) return;
	was_disturbed = true;
	struct line line;
	start_line(&line, "disturbed");
	report_line(&line);
}

/*
 * `fg` in the caller's shell continues the command and the rest of its group: that shows at the command before the outer
 * process can tell of it.
 */
static void answer_thaw(struct line *answer) {
	if (frozen && !has_cgroup() && was_child_continued(WNOWAIT)) was_disturbed = true;
	add_text(answer, thawed_late ? "thawed-before" : frozen && was_disturbed ? "thawed-disturbed" : "thawed");
	thaw();
	thawed_late = false;
}

static void answer_freeze(struct line *answer) {
	start_us = monotonic_us();
	long passes = freeze();
	if (passes >= 0) stands_since_us = monotonic_us();
	int processes = living_count;
	if (passes < 0) {
		if (passes != -EALREADY) thaw();
		add_text(answer, "error ");
		add_number(answer, -passes);
		add_text(answer, passes == -ETIMEDOUT    ? " some process did not stop in time"
						 : passes == -EALREADY   ? " frozen already"
						 : has_cgroup()          ? " the control group does not freeze"
						 : passes == -ENOMEM     ? " too many processes"
												 : " /proc does not show the processes inside");
		return;
	}
	add_text(answer, "frozen ");
	add_number(answer, monotonic_us() - start_us);
	add_text(answer, " procs ");
	add_number(answer, processes);
	add_text(answer, " rounds ");
	add_number(answer, passes);
	if (has_cgroup()) add_text(answer, " by cgroup");
}

void answer_control(char request) {
	struct line answer;
	start_line(&answer, "");
	if (request == '\n' || request == ' ') return;
	if (request == 'F') answer_freeze(&answer);
	else if (request == 'T') answer_thaw(&answer);
	else add_text(&answer, "error 22 unknown request");
	write_line(CONTROL_FD, &answer);
}

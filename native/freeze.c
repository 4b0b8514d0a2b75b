#include "freeze.h"

#include "processes.h"
#include "report.h"
#include "syscall.h"

/*
 * Top-down: a process is stopped only after its parent has been seen standing still, so that no shell sees a child
 * stop and takes it for a job that the user suspended. Passes over /proc go on until one finds nothing that runs.
 */
enum {
	MOST_PROCESSES = 1 << 16,
	PID_LIMIT = 1 << 22, /* PID_MAX_LIMIT of the kernel */
	LIMIT_US = 5000000,
	NUDGE_AFTER = 8,
	SHORT_WAIT_NS = 50000,
	LONG_WAIT_NS = 500000,
};

static struct stopped {
	int pid;
	bool by_freeze; /* false: it was stopped before, by the user's Ctrl-Z for example, and stays so */
} stopped[MOST_PROCESSES];
static int stopped_count;
static bool frozen;
static long cannot_freeze;

/* One bit for each pid: counted in `stopped`; and seen standing still. */
static uint8_t known[PID_LIMIT / 8], still[PID_LIMIT / 8];
static bool has_bit(const uint8_t *set, int pid) { return set[pid >> 3] >> (pid & 7) & 1; }
static void set_bit(uint8_t *set, int pid) { set[pid >> 3] |= (uint8_t)(1 << (pid & 7)); }

/* Of the current pass: it found a process that may run; the first one stopped in it; why it can't go on. */
static bool found_running;
static int first_of_pass;
static long pass_error;

void prepare_freeze(void) { cannot_freeze = open_processes(); }
bool is_frozen(void) { return frozen; }

/* Dead and only waiting to be reaped. A process whose leader has ended is Z as well, but its threads run on. */
static bool is_dead(struct process process) {
	return !process.state || ((process.state == 'Z' || process.state == 'X') && process.threads < 2);
}

static bool stop_if_ready(int pid) {
	if (pid <= 1 || pid >= PID_LIMIT || has_bit(known, pid)) return true;
	struct process process = look_at_process(pid);
	if (is_dead(process)) return true;
	found_running = true;
	/* Parent 0 is a process that joined from outside, parent 1 an orphan or the command. */
	if (process.parent > 1 && !has_bit(still, process.parent)) return true;
	if (stopped_count == MOST_PROCESSES) {
		pass_error = -ENOMEM;
		return false;
	}
	bool runs = process.state != 'T';
	if (runs) sys_kill(pid, SIGSTOP);
	set_bit(known, pid);
	stopped[stopped_count++] = (struct stopped){pid, runs};
	return true;
}

/* Waits until all that this pass stopped stand still; false when the time is over. */
static bool wait_for_pass(long deadline_us) {
	for (int i = first_of_pass; i < stopped_count; i++) {
		int pid = stopped[i].pid;
		for (int tries = 0; !stands_still(pid, tries > NUDGE_AFTER); tries++) {
			if (monotonic_us() > deadline_us) return false;
			sys_nanosleep(tries < NUDGE_AFTER ? SHORT_WAIT_NS : LONG_WAIT_NS);
		}
		set_bit(still, pid);
	}
	return true;
}

/* The passes made, or -errno. */
static long freeze(void) {
	long deadline_us = monotonic_us() + LIMIT_US;
	int passes = 0;
	frozen = true;
	do {
		passes++;
		found_running = false;
		first_of_pass = stopped_count;
		pass_error = 0;
		each_process(stop_if_ready);
		if (pass_error) return pass_error;
		if (!wait_for_pass(deadline_us) || monotonic_us() > deadline_us) return -ETIMEDOUT;
		/* Only processes below one that is just ending, and nothing to wait for: don't spin. */
		if (found_running && first_of_pass == stopped_count) sys_nanosleep(SHORT_WAIT_NS);
	} while (found_running);
	return passes;
}

/* Bottom-up, so that each parent finds its children running. */
void thaw(void) {
	for (int i = stopped_count; i-- > 0;) {
		int pid = stopped[i].pid;
		known[pid >> 3] = still[pid >> 3] = 0;
		if (stopped[i].by_freeze) sys_kill(pid, SIGCONT);
	}
	stopped_count = 0;
	frozen = false;
}

static void answer_freeze(struct line *answer) {
	long start_us = monotonic_us();
	long passes = cannot_freeze ? cannot_freeze : frozen ? -EALREADY : freeze();
	int processes = stopped_count;
	if (passes < 0) {
		if (passes != -EALREADY) thaw();
		add_text(answer, "error ");
		add_number(answer, -passes);
		add_text(answer, passes == -ETIMEDOUT    ? " some process did not stop in time"
						 : passes == -EALREADY   ? " frozen already"
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
}

void answer_control(char request) {
	struct line answer;
	start_line(&answer, "");
	if (request == '\n' || request == ' ') return;
	if (request == 'F') answer_freeze(&answer);
	else if (request == 'T') {
		thaw();
		add_text(&answer, "thawed");
	} else {
		add_text(&answer, "error 22 unknown request");
	}
	answer.bytes[answer.length] = '\n';
	sys_write(CONTROL_FD, answer.bytes, answer.length + 1);
}

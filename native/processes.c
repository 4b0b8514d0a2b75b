#include "processes.h"

#include "report.h"
#include "syscall.h"

static int proc = -1;

/* A small file of /proc, with a NUL at its end. The length, or -errno. */
static long read_small(const char *path, char *bytes, size_t size) {
	int fd = (int)sys_openat(proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0) return fd;
	long length = sys_read(fd, bytes, size - 1);
	sys_close(fd);
	if (length >= 0) bytes[length] = 0;
	return length;
}

long open_processes(void) {
	char self[32];
	long length = sys_readlinkat(AT_FDCWD, "/proc/self", self, sizeof self);
	if (length < 0) return length;
	if (length != 1 || self[0] != '1') return -EXDEV;
	proc = (int)sys_openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return proc < 0 ? proc : 0;
}

/* `PID (NAME) STATE PARENT …`: the name may hold anything, so the fields are counted from its last parenthesis. */
static struct process read_stat(const char *path) {
	enum { THREADS_AFTER_PARENT = 16 };
	char text[1024];
	long at = read_small(path, text, sizeof text) - 1;
	while (at > 0 && text[at] != ')') at--;
	if (at <= 0) return (struct process){0};
	const char *field = text + at + 4;
	struct process process = {.state = text[at + 2], .parent = leading_number(field)};
	for (int skip = THREADS_AFTER_PARENT; skip && *field; field++)
		if (*field == ' ') skip--;
	process.threads = leading_number(field);
	return process;
}

struct process look_at_process(int pid) {
	struct line path;
	start_line(&path, "");
	add_number(&path, pid);
	add_text(&path, "/stat");
	return read_stat(path.bytes);
}

bool is_dead(struct process process) {
	return (process.state == 'Z' || process.state == 'X') && process.threads < 2;
}

static bool is_joined(int pid) {
	struct process process = look_at_process(pid);
	return pid != 1 && process.state && process.parent == 0 && !is_dead(process);
}

/* Calls VISIT with each name of an open directory that is a number. */
static bool each_number(int directory, bool (*visit)(int number, void *context), void *context) {
	char entries[32768];
	long length;
	while ((length = sys_getdents64(directory, entries, sizeof entries)) > 0)
		for (long at = 0; at < length;) {
			const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
			at += entry->length;
			int number = leading_number(entry->name);
			if (number && !visit(number, context)) return false;
		}
	return true;
}

struct list {
	int *pids;
	int count, most;
};

static bool add_to_list(int pid, void *context) {
	struct list *list = context;
	if (list->count == list->most) return false;
	list->pids[list->count++] = pid;
	return true;
}

int list_processes(int *pids, int most) {
	struct list list = {pids, 0, most};
	sys_lseek(proc, 0, 0);
	return each_number(proc, add_to_list, &list) ? list.count : -ENOMEM;
}

static int last_joined;

int count_joined(void) {
	static int pids[1 << 17];
	int count = proc < 0 ? 0 : list_processes(pids, sizeof pids / sizeof *pids), joined = 0;
	/* With more processes than that, what has joined may be among the rest. */
	if (count < 0) return 1;
	for (int i = 0; i < count; i++)
		if (is_joined(pids[i])) joined++, last_joined = pids[i];
	return joined;
}

bool has_joined_left(void) { return (last_joined && is_joined(last_joined)) || count_joined(); }

/* Where a thread in state D waits: these names of the kernel mean for the child of a vfork. */
static bool waits_for_vfork(int thread) {
	static const char *const places[] = {"kernel_clone", "wait_for_vfork_done", "__do_sys_vfork", "__do_sys_clone"};
	struct line path;
	char place[64];
	start_line(&path, "");
	add_number(&path, thread);
	add_text(&path, "/wchan");
	if (read_small(path.bytes, place, sizeof place) <= 0) return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (text_equal(place, places[i])) return true;
	return false;
}

static bool is_still_state(char state) {
	return !state || state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

struct thread_visit {
	int pid;
	bool nudge;
	bool still;
};

/* With a nudge every thread is looked at, else the first that runs is enough. */
static bool visit_thread(int thread, void *context) {
	struct thread_visit *visit = context;
	struct line path;
	start_line(&path, "");
	add_number(&path, visit->pid);
	add_text(&path, "/task/");
	add_number(&path, thread);
	add_text(&path, "/stat");
	char state = read_stat(path.bytes).state;
	if (is_still_state(state) || (state == 'D' && waits_for_vfork(thread))) return true;
	visit->still = false;
	if (visit->nudge) sys_tgkill(visit->pid, thread, SIGSTOP);
	return visit->nudge;
}

bool stands_still(int pid, bool nudge) {
	/* Most have one thread, and one that stands still starts no other. */
	struct process process = look_at_process(pid);
	if (process.threads <= 1 && is_still_state(process.state)) return true;
	struct thread_visit visit = {pid, nudge, true};
	struct line path;
	start_line(&path, "");
	add_number(&path, pid);
	add_text(&path, "/task");
	int threads = (int)sys_openat(proc, path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (threads < 0) return threads == -ENOENT || threads == -ESRCH;
	each_number(threads, visit_thread, &visit);
	sys_close(threads);
	return visit.still;
}

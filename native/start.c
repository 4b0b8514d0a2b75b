/*
 * launch PARENT_PID: performs a plan and becomes the parent and the PID 1 of a sandboxed command.
 * Descriptors: 0 to 2 the command's, 3 the plan, 4 the report, 5 control, 6 a lock and
 * 7 a socket to hand descriptors out by (these only if the plan says so).
 */
#include "command.h"
#include "plan.h"
#include "report.h"
#include "syscall.h"

/* The launcher must not outlive its caller: the kernel kills it, or it sees that this came too late. */
static void bind_to_caller(const char *caller) {
	uint64_t pid;
	if (sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0) < 0) quit(LAUNCHER_FAILED);
	if (!parse_number(caller, &pid) || (uint64_t)sys_getppid() != pid) quit(LAUNCHER_FAILED);
}

/* Takes the numbers 0 to 7, and closes whatever else was inherited. */
static void settle_descriptors(void) {
	sys_close_range(HAND_OUT_FD + 1, ~0u);
	if (sys_fcntl(REPORT_FD, F_GETFD, 0) < 0) quit(LAUNCHER_FAILED);
	for (int fd = 0; fd < 3; fd++)
		if (sys_fcntl(fd, F_GETFD, 0) < 0) must(sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0), "/dev/null");
	must(sys_fcntl(PLAN_FD, F_GETFD, 0), "no plan on descriptor 3");
	for (int fd = CONTROL_FD; fd <= HAND_OUT_FD; fd++)
		if (sys_fcntl(fd, F_GETFD, 0) < 0) must(sys_dup3(REPORT_FD, fd, O_CLOEXEC), "dup3");
	for (int fd = PLAN_FD; fd <= HAND_OUT_FD; fd++) sys_fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* A directory as standard input would be a way around every mount: openat(0, "..") starts in the caller's view. */
static void refuse_directories(void) {
	for (int fd = 0; fd < 3; fd++) {
		struct stat facts;
		if (sys_fstat(fd, &facts) == 0 && (facts.st_mode & FILE_TYPE_MASK) == DIRECTORY_TYPE)
			fail(-EISDIR, "a standard descriptor is a directory");
	}
}

/* All are blocked and read from descriptors. With SIGCHLD ignored, children would vanish before they are waited for. */
static void settle_signals(void) {
	static const struct {
		void *words[4];
	} default_action;
	sys_rt_sigaction(SIGCHLD, &default_action);
	sys_rt_sigprocmask(SIG_SETMASK, ALL_SIGNALS);
}

__attribute__((used)) _Noreturn void start(long *stack) {
	long count = stack[0];
	char **arguments = (char **)(stack + 1);
	environment = arguments + count + 1;
	if (count != 2) quit(LAUNCHER_FAILED);
	bind_to_caller(arguments[1]);
	settle_descriptors();
	settle_signals();
	refuse_directories();
	plan_read();
	plan_perform();
}

/* The kernel enters here with the argument count on top of the stack. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
#else
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl start\n");
#endif

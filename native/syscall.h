/*
 * The system calls that the launcher uses, one typed function each. There is no C library below: constants and
 * structures come from the kernel's own headers. A negative result is -errno, as the kernel gives it.
 */
#ifndef DROPCLOTH_SYSCALL_H
#define DROPCLOTH_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/ioctls.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/signalfd.h>
#include <linux/time_types.h>
#include <linux/wait.h>

/* Newer than the headers of some systems; the numbers are the same on every architecture. */
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif

/* Not in any kernel header that can be included without a C library. */
enum {
	AF_UNIX = 1,
	AF_INET = 2,
	SOCK_STREAM = 1,
	SOCK_DGRAM = 2,
	SOCK_CLOEXEC = O_CLOEXEC,
	UNMOUNT_DETACH = 2,
	UNMOUNT_NOFOLLOW = 8,
	FILE_TYPE_MASK = 0170000,
	DIRECTORY_TYPE = 0040000,
};

/* A set of all 64 signals, and the size of one in bytes. */
#define ALL_SIGNALS (~(uint64_t)0)
#define SIGNAL_SET_BYTES 8
#define SIGNAL_BIT(number) ((uint64_t)1 << ((number) - 1))

struct directory_entry {
	uint64_t inode;
	int64_t next;
	unsigned short length;
	unsigned char type;
	char name[];
};

#if defined(__x86_64__)
static inline long system_call(long number, long a, long b, long c, long d, long e) {
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall"
					 : "=a"(result)
					 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
					 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long system_call(long number, long a, long b, long c, long d, long e) {
	register long which __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	register long fifth __asm__("x4") = e;
	__asm__ volatile("svc 0"
					 : "+r"(first)
					 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
					 : "memory");
	return first;
}
#else
#error "the launcher is written for x86-64 and arm64"
#endif

/* Processes. */
static inline void sys_exit_group(int code) { system_call(__NR_exit_group, code, 0, 0, 0, 0); }
/* clone(2) without a stack of its own: fork, with namespaces. The order of the other arguments differs by machine. */
static inline long sys_fork(uint64_t namespaces) {
	return system_call(__NR_clone, SIGCHLD | (long)namespaces, 0, 0, 0, 0);
}
static inline long sys_unshare(uint64_t namespaces) { return system_call(__NR_unshare, (long)namespaces, 0, 0, 0, 0); }
static inline long sys_execve(const char *path, char **arguments, char **environment) {
	return system_call(__NR_execve, (long)path, (long)arguments, (long)environment, 0, 0);
}
static inline long sys_wait4(int pid, int *status, int options) {
	return system_call(__NR_wait4, pid, (long)status, options, 0, 0);
}
/* KIND is P_ALL or P_PID. */
static inline long sys_waitid(int kind, int pid, siginfo_t *info, int options) {
	return system_call(__NR_waitid, kind, pid, (long)info, options, 0);
}
static inline long sys_pidfd_open(int pid) { return system_call(__NR_pidfd_open, pid, 0, 0, 0, 0); }
static inline long sys_setns(int fd, uint64_t namespaces) {
	return system_call(__NR_setns, fd, (long)namespaces, 0, 0, 0);
}
/* Of this process; either may be NULL. */
static inline long sys_prlimit(int resource, const struct rlimit64 *limit, struct rlimit64 *present) {
	return system_call(__NR_prlimit64, 0, resource, (long)limit, (long)present, 0);
}
static inline int sys_getpid(void) { return (int)system_call(__NR_getpid, 0, 0, 0, 0, 0); }
static inline int sys_getppid(void) { return (int)system_call(__NR_getppid, 0, 0, 0, 0, 0); }
static inline int sys_getpgid(int pid) { return (int)system_call(__NR_getpgid, pid, 0, 0, 0, 0); }
static inline long sys_setpgid(int pid, int group) { return system_call(__NR_setpgid, pid, group, 0, 0, 0); }
static inline long sys_prctl(int option, unsigned long a, unsigned long b) {
	return system_call(__NR_prctl, option, (long)a, (long)b, 0, 0);
}
static inline unsigned sys_umask(unsigned mask) { return (unsigned)system_call(__NR_umask, mask, 0, 0, 0, 0); }
static inline long sys_capget(void *header, void *data) {
	return system_call(__NR_capget, (long)header, (long)data, 0, 0, 0);
}
static inline long sys_capset(void *header, void *data) {
	return system_call(__NR_capset, (long)header, (long)data, 0, 0, 0);
}
static inline long sys_landlock_create_ruleset(const void *rules, size_t size, unsigned flags) {
	return system_call(__NR_landlock_create_ruleset, (long)rules, (long)size, flags, 0, 0);
}
static inline long sys_landlock_restrict_self(int ruleset) {
	return system_call(__NR_landlock_restrict_self, ruleset, 0, 0, 0, 0);
}
static inline long sys_sethostname(const char *name, size_t length) {
	return system_call(__NR_sethostname, (long)name, (long)length, 0, 0, 0);
}

/* Signals. */
static inline long sys_kill(int pid, int signal) { return system_call(__NR_kill, pid, signal, 0, 0, 0); }
static inline long sys_tgkill(int pid, int thread, int signal) {
	return system_call(__NR_tgkill, pid, thread, signal, 0, 0);
}
/* HOW is SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK. */
static inline long sys_rt_sigprocmask(int how, uint64_t signals) {
	return system_call(__NR_rt_sigprocmask, how, (long)&signals, 0, SIGNAL_SET_BYTES, 0);
}
static inline long sys_rt_sigaction(int signal, const void *action) {
	return system_call(__NR_rt_sigaction, signal, (long)action, 0, SIGNAL_SET_BYTES, 0);
}
static inline long sys_signalfd(uint64_t signals) {
	return system_call(__NR_signalfd4, -1, (long)&signals, SIGNAL_SET_BYTES, O_CLOEXEC, 0);
}
/* Takes one of the pending signals away, without waiting. */
static inline long sys_take_pending(uint64_t signals) {
	struct __kernel_timespec at_once = {0, 0};
	return system_call(__NR_rt_sigtimedwait, (long)&signals, 0, (long)&at_once, SIGNAL_SET_BYTES, 0);
}
static inline long sys_ppoll(struct pollfd *polled, unsigned count, struct __kernel_timespec *limit) {
	return system_call(__NR_ppoll, (long)polled, count, (long)limit, 0, 0);
}

/* Time. */
static inline void sys_nanosleep(long nanoseconds) {
	struct __kernel_timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	system_call(__NR_nanosleep, (long)&time, 0, 0, 0, 0);
}
static inline long monotonic_us(void) {
	struct __kernel_timespec time;
	system_call(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)&time, 0, 0, 0);
	return (long)time.tv_sec * 1000000 + (long)time.tv_nsec / 1000;
}

/* Descriptors and files. */
static inline long sys_read(int fd, void *bytes, size_t length) {
	return system_call(__NR_read, fd, (long)bytes, (long)length, 0, 0);
}
static inline long sys_write(int fd, const void *bytes, size_t length) {
	return system_call(__NR_write, fd, (long)bytes, (long)length, 0, 0);
}
static inline long sys_lseek(int fd, long offset, int whence) {
	return system_call(__NR_lseek, fd, offset, whence, 0, 0);
}
static inline long sys_close(int fd) { return system_call(__NR_close, fd, 0, 0, 0, 0); }
static inline long sys_close_range(unsigned first, unsigned last) {
	return system_call(__NR_close_range, first, last, 0, 0, 0);
}
static inline long sys_dup3(int from, int to, int flags) { return system_call(__NR_dup3, from, to, flags, 0, 0); }
static inline long sys_fcntl(int fd, int command, long argument) {
	return system_call(__NR_fcntl, fd, command, argument, 0, 0);
}
static inline long sys_ioctl(int fd, unsigned long command, void *argument) {
	return system_call(__NR_ioctl, fd, (long)command, (long)argument, 0, 0);
}
static inline long sys_fstat(int fd, struct stat *facts) { return system_call(__NR_fstat, fd, (long)facts, 0, 0, 0); }
static inline long sys_openat(int directory, const char *path, int flags, unsigned mode) {
	return system_call(__NR_openat, directory, (long)path, flags, mode, 0);
}
static inline long sys_openat2(int directory, const char *path, struct open_how *how) {
	return system_call(__NR_openat2, directory, (long)path, (long)how, sizeof *how, 0);
}
static inline long sys_faccessat(int directory, const char *path) {
	return system_call(__NR_faccessat, directory, (long)path, 0 /* F_OK */, 0, 0);
}
static inline long sys_readlinkat(int directory, const char *path, char *target, size_t length) {
	return system_call(__NR_readlinkat, directory, (long)path, (long)target, (long)length, 0);
}
static inline long sys_getdents64(int fd, void *entries, size_t length) {
	return system_call(__NR_getdents64, fd, (long)entries, (long)length, 0, 0);
}
static inline long sys_mkdirat(int directory, const char *name, unsigned mode) {
	return system_call(__NR_mkdirat, directory, (long)name, mode, 0, 0);
}
static inline long sys_symlinkat(const char *target, int directory, const char *name) {
	return system_call(__NR_symlinkat, (long)target, directory, (long)name, 0, 0);
}
static inline long sys_chdir(const char *path) { return system_call(__NR_chdir, (long)path, 0, 0, 0, 0); }
static inline long sys_fchdir(int fd) { return system_call(__NR_fchdir, fd, 0, 0, 0, 0); }
static inline long sys_socket(int family, int type) { return system_call(__NR_socket, family, type, 0, 0, 0); }
static inline long sys_bind(int fd, const void *address, size_t length) {
	return system_call(__NR_bind, fd, (long)address, (long)length, 0, 0);
}
static inline long sys_listen(int fd, int queue) { return system_call(__NR_listen, fd, queue, 0, 0, 0); }
static inline long sys_sendmsg(int fd, const void *message, int flags) {
	return system_call(__NR_sendmsg, fd, (long)message, flags, 0, 0);
}
static inline long sys_socketpair(int ends[2]) {
	return system_call(__NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)ends, 0);
}

/* Mounts: the descriptor-based interface of Linux 5.2 and 5.12. */
static inline long sys_fsopen(const char *type) {
	return system_call(__NR_fsopen, (long)type, FSOPEN_CLOEXEC, 0, 0, 0);
}
static inline long sys_fsconfig(int fs, unsigned command, const char *key, const void *value, int extra) {
	return system_call(__NR_fsconfig, fs, command, (long)key, (long)value, extra);
}
static inline long sys_fsmount(int fs, uint64_t attributes) {
	return system_call(__NR_fsmount, fs, FSMOUNT_CLOEXEC, (long)attributes, 0, 0);
}
static inline long sys_open_tree(int fd, const char *path, unsigned flags) {
	return system_call(__NR_open_tree, fd, (long)path, flags, 0, 0);
}
static inline long sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags) {
	return system_call(__NR_move_mount, from, (long)from_path, to, (long)to_path, flags);
}
static inline long sys_mount_setattr(int fd, const char *path, unsigned flags, struct mount_attr *attributes) {
	return system_call(__NR_mount_setattr, fd, (long)path, flags, (long)attributes, sizeof *attributes);
}
static inline long sys_umount2(const char *path, int flags) {
	return system_call(__NR_umount2, (long)path, flags, 0, 0, 0);
}
static inline long sys_pivot_root(const char *root, const char *old) {
	return system_call(__NR_pivot_root, (long)root, (long)old, 0, 0, 0);
}

#endif

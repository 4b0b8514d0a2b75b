/* Makes each system call that the sandbox refuses and prints `NAME ERRNO`, 0 when the kernel took it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char *name, long result) { printf("%s %d\n", name, result < 0 ? errno : 0); }

#define CALL(name) show(#name, syscall(SYS_##name, -1, 0, 0, 0, 0))

int main(int count, char **argument) {
	CALL(keyctl);
	CALL(add_key);
	CALL(request_key);
	CALL(bpf);
	CALL(perf_event_open);
	CALL(userfaultfd);
	CALL(io_uring_setup);
	CALL(io_uring_enter);
	CALL(io_uring_register);
	CALL(open_by_handle_at);
	CALL(kexec_load);
	CALL(kexec_file_load);
	CALL(init_module);
	CALL(finit_module);
	CALL(delete_module);
	CALL(swapon);
	CALL(swapoff);
	CALL(quotactl);
	CALL(acct);
	CALL(reboot);
	CALL(syslog);
	CALL(vhangup);
	show("vsock", syscall(SYS_socket, 40, 1, 0)); /* AF_VSOCK, SOCK_STREAM */
	show("unix", syscall(SYS_socket, 1, 1, 0));
	/* With bits above the 32 that the kernel looks at. */
	show("TIOCSTI", syscall(SYS_ioctl, 0, TIOCSTI | 1ul << 32, "x"));
	show("TIOCLINUX", syscall(SYS_ioctl, 0, 0x541C, "\1"));
	show("TCXONC", syscall(SYS_ioctl, 0, TCXONC, 0));
	show("TIOCGWINSZ", syscall(SYS_ioctl, 0, TIOCGWINSZ, &(struct winsize){0}));
#if defined(__x86_64__)
	show("x32-getpid", syscall(0x40000000 + SYS_getpid));
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); /* getpid of i386 */
	errno = (int)-result;
	show("i386-getpid", result);
#endif
	/* A signal to the process given, and one to a group of which the caller may be a member. */
	if (count > 1) show("kill", syscall(SYS_kill, atoi(argument[1]), 0));
	return 0;
}

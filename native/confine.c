#include "confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "operations.h"
#include "report.h"
#include "syscall.h"

static struct operation_mark mark;
static bool with_seccomp, with_sockets_scoped, with_signals_scoped;

/* Refused system calls, and what they say. io_uring says ENOSYS, so that programs take their other way. */
static const struct {
	unsigned number;
	unsigned error;
} refused[] = {
	{__NR_keyctl, EPERM},           {__NR_add_key, EPERM},        {__NR_request_key, EPERM},
	{__NR_bpf, EPERM},              {__NR_perf_event_open, EPERM}, {__NR_userfaultfd, EPERM},
	{__NR_io_uring_setup, ENOSYS},  {__NR_io_uring_enter, ENOSYS}, {__NR_io_uring_register, ENOSYS},
	{__NR_open_by_handle_at, EPERM}, {__NR_kexec_load, EPERM},     {__NR_kexec_file_load, EPERM},
	{__NR_init_module, EPERM},      {__NR_finit_module, EPERM},   {__NR_delete_module, EPERM},
	{__NR_swapon, EPERM},           {__NR_swapoff, EPERM},        {__NR_quotactl, EPERM},
	{__NR_acct, EPERM},             {__NR_reboot, EPERM},         {__NR_syslog, EPERM},
	{__NR_vhangup, EPERM},
};

/* Terminal requests that would type into the caller's terminal, or stop its output, on which the owner would wait too. */
static const unsigned refused_requests[] = {TIOCSTI, TIOCLINUX, TCXONC};

enum {
	REFUSED = sizeof refused / sizeof *refused,
	REQUESTS = sizeof refused_requests / sizeof *refused_requests,
	X32_BIT = 0x40000000,
	AF_VSOCK = 40, /* linux/socket.h */
	ARGUMENT_0 = offsetof(struct seccomp_data, args),
	ARGUMENT_1 = offsetof(struct seccomp_data, args) + 8, /* its low half: the kernel looks at no more of a request */
};
#if defined(__x86_64__)
enum { OWN_ARCHITECTURE = AUDIT_ARCH_X86_64 };
#else
enum { OWN_ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#endif

static struct sock_filter filter[20 + 2 * REFUSED + 2 * REQUESTS];
static unsigned short filter_length;

static void add(unsigned short code, unsigned char if_true, unsigned char if_false, unsigned value) {
	filter[filter_length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(unsigned offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
static void answer(unsigned action) { add(BPF_RET | BPF_K, 0, 0, action); }

/* Answers with the error when the loaded word compares so to the value, and goes on otherwise. */
static void refuse_if(unsigned short comparison, unsigned value, unsigned error) {
	add(BPF_JMP | comparison | BPF_K, 0, 1, value);
	answer(SECCOMP_RET_ERRNO | error);
}

static void build_filter(void) {
	load(offsetof(struct seccomp_data, arch));
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (unsigned)OWN_ARCHITECTURE);
	answer(SECCOMP_RET_ERRNO | ENOSYS);
	load(offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
	/* x32 calls have the same architecture and numbers of their own. */
	refuse_if(BPF_JGE, X32_BIT, ENOSYS);
#endif
	for (int i = 0; i < REFUSED; i++) refuse_if(BPF_JEQ, refused[i].number, refused[i].error);
	/* Sockets to the machine that this one is a guest of: no network namespace keeps them in. */
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, __NR_socket);
	load(ARGUMENT_0);
	refuse_if(BPF_JEQ, AF_VSOCK, EAFNOSUPPORT);
	answer(SECCOMP_RET_ALLOW);
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, __NR_ioctl);
	answer(SECCOMP_RET_ALLOW);
	load(ARGUMENT_1);
	for (int i = 0; i < REQUESTS; i++) refuse_if(BPF_JEQ, refused_requests[i], EPERM);
	answer(SECCOMP_RET_ALLOW);
}

/*
 * `landlock` keeps abstract Unix sockets and signals inside. Between two that are kept in so, no signal goes either
 * way: a command that joins, from which others are to be stopped, has `landlock-sockets`.
 */
void op_confine(char **operand, int extra) {
	(void)extra;
	with_seccomp = list_has(operand[0], "seccomp");
	with_signals_scoped = list_has(operand[0], "landlock");
	with_sockets_scoped = with_signals_scoped || list_has(operand[0], "landlock-sockets");
	mark = current_operation;
}

/* Abstract Unix sockets and signals: LANDLOCK_SCOPE_*, landlock(7), since ABI 6. */
enum { ABI_WITH_SCOPES = 6, ASK_ABI = 1, SCOPE_ABSTRACT_UNIX_SOCKET = 1, SCOPE_SIGNAL = 2 };

static bool has_scopes(void) { return sys_landlock_create_ruleset(NULL, 0, ASK_ABI) >= ABI_WITH_SCOPES; }

bool confine_scopes_signals(void) { return with_signals_scoped && has_scopes(); }

static void scope_by_landlock(void) {
	const struct {
		uint64_t files, network, scoped;
	} rules = {0, 0, SCOPE_ABSTRACT_UNIX_SOCKET | (with_signals_scoped ? SCOPE_SIGNAL : 0)};
	int ruleset = (int)must(sys_landlock_create_ruleset(&rules, sizeof rules, 0), "landlock");
	must(sys_landlock_restrict_self(ruleset), "landlock");
	sys_close(ruleset);
}

void confine_self(void) {
	current_operation = mark;
	must(sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0), "no_new_privs");
	if (with_sockets_scoped && has_scopes()) scope_by_landlock();
	if (!with_seccomp) return;
	build_filter();
	struct sock_fprog program = {filter_length, filter};
	must(sys_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (unsigned long)&program), "seccomp");
}

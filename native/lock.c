#include "lock.h"

#include "operations.h"
#include "report.h"
#include "syscall.h"

static bool holds_lock;

/*
 * An exclusive lock of the open file description. The outer process and PID 1 keep the descriptor, so the lock lives
 * until everything inside is gone, whatever becomes of the caller; F_OFD_SETLK, fcntl(2).
 */
void op_lock(char **operand, int extra) {
	(void)extra;
	if (must_number(operand[0], LOCK_FD) != LOCK_FD) fail(-EBADF, "the descriptor to lock is 6");
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_start = (long)must_number(operand[1], INT64_MAX),
		.l_len = (long)must_number(operand[2], INT64_MAX),
	};
	must(sys_fcntl(LOCK_FD, F_OFD_SETLK, (long)&lock), "held by another");
	holds_lock = true;
}

void drop_unused_lock(void) {
	if (!holds_lock) must(sys_dup3(REPORT_FD, LOCK_FD, O_CLOEXEC), "dup3");
}

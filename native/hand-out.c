#include "hand-out.h"

#include "report.h"
#include "syscall.h"

/* The kernel's struct msghdr and iovec, sendmsg(2), which no header of its own has. */
struct part {
	void *bytes;
	size_t length;
};
struct message {
	void *name;
	int name_length;
	struct part *parts;
	size_t part_count;
	void *control;
	size_t control_length;
	unsigned flags;
};

/* SCM_RIGHTS with one descriptor: cmsg(3), unix(7). */
struct descriptor_message {
	size_t length;
	int level;
	int type;
	int fd;
};

enum { SOL_SOCKET = 1, SCM_RIGHTS = 1, MSG_NOSIGNAL = 0x4000 };

void hand_out(int fd) {
	/* Descriptors travel only with a byte of data. */
	char byte = 'd';
	struct descriptor_message control = {
		.length = offsetof(struct descriptor_message, fd) + sizeof fd,
		.level = SOL_SOCKET,
		.type = SCM_RIGHTS,
		.fd = fd,
	};
	struct part part = {&byte, 1};
	struct message message = {
		.parts = &part,
		.part_count = 1,
		.control = &control,
		.control_length = sizeof control,
	};
	must(sys_sendmsg(HAND_OUT_FD, &message, MSG_NOSIGNAL), "no owner to hand a descriptor to");
}

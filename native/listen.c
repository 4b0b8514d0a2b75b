/* A listening socket of the sandbox's own network, which the owner outside accepts from. */
#include "hand-out.h"
#include "operations.h"
#include "report.h"
#include "syscall.h"

enum { LONGEST_QUEUE = 511 };

/* struct sockaddr_in, ip(7); `port` and `address` in network order. */
struct internet_address {
	uint16_t family;
	uint8_t port[2];
	uint8_t address[4];
	uint8_t unused[8];
};

/* Four decimal numbers with points between them; false for anything else. */
static bool parse_address(const char *text, uint8_t address[4]) {
	for (int i = 0; i < 4; i++) {
		unsigned value = 0, digits = 0;
		for (; *text >= '0' && *text <= '9' && digits < 4; text++, digits++) value = value * 10 + (unsigned)(*text - '0');
		if (digits < 1 || digits > 3 || value > 255) return false;
		if (*text++ != (i < 3 ? '.' : 0)) return false;
		address[i] = (uint8_t)value;
	}
	return true;
}

/*
 * Connections that come before the owner accepts wait in the queue. The descriptor is closed here: of those inside,
 * nobody ever has it.
 */
void op_listen(char **operand, int extra) {
	(void)extra;
	struct internet_address address = {.family = AF_INET};
	if (!parse_address(operand[0], address.address)) fail(-EINVAL, operand[0]);
	uint64_t port = must_number(operand[1], 65535);
	address.port[0] = (uint8_t)(port >> 8);
	address.port[1] = (uint8_t)port;
	int fd = (int)must(sys_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC), "socket");
	must(sys_bind(fd, &address, sizeof address), operand[0]);
	must(sys_listen(fd, LONGEST_QUEUE), operand[0]);
	hand_out(fd);
	sys_close(fd);
}

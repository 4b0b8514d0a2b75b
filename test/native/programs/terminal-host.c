/*
 * terminal-host PROGRAM ARGUMENT...: runs a program as the leader of a session on a new terminal of 33 x 99, passes its
 * own input to the terminal and the terminal's output on, and ends with the program's exit code. SIGUSR1 makes the
 * terminal 44 x 111.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int terminal;

static void set_size(unsigned short rows, unsigned short columns) {
	struct winsize size = {.ws_row = rows, .ws_col = columns};
	ioctl(terminal, TIOCSWINSZ, &size);
}

static void resize(int signal) {
	(void)signal;
	set_size(44, 111);
}

/* False at the end of FROM. */
static int pass(int from, int to) {
	char bytes[4096];
	ssize_t length = read(from, bytes, sizeof bytes);
	return length > 0 && write(to, bytes, (size_t)length) == length;
}

int main(int count, char **argument) {
	if (count < 2) return 2;
	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return 2;
	set_size(33, 99);
	pid_t leader = fork();
	if (leader == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid();
		int side = open(ptsname(terminal), O_RDWR); /* becomes the controlling terminal */
		for (int fd = 0; fd < 3; fd++) dup2(side, fd);
		if (side > 2) close(side);
		execvp(argument[1], argument + 1);
		_exit(127);
	}
	signal(SIGUSR1, resize);
	struct pollfd polled[] = {{terminal, POLLIN, 0}, {0, POLLIN, 0}};
	for (;;) {
		if (poll(polled, 2, -1) < 0) continue;
		if (polled[0].revents && !pass(terminal, 1)) break; /* EIO: nobody has it open any more */
		if (polled[1].revents && !pass(0, terminal)) polled[1].fd = -1;
	}
	int status;
	waitpid(leader, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Prints `ready`, then `signal N` for each signal that comes, and ends with code N; SIGWINCH prints the size of the
 * terminal, and after SIGCONT it goes on. Stops are left to the kernel. No signal can come too early to be seen.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>

int main(void) {
	sigset_t waited;
	sigfillset(&waited);
	sigdelset(&waited, SIGTSTP);
	sigdelset(&waited, SIGTTIN);
	sigdelset(&waited, SIGTTOU);
	sigprocmask(SIG_BLOCK, &waited, NULL);
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	for (;;) {
		int number;
		if (sigwait(&waited, &number)) return 1;
		struct winsize size;
		if (number == SIGWINCH && ioctl(0, TIOCGWINSZ, &size) == 0) printf("size %d %d\n", size.ws_row, size.ws_col);
		else printf("signal %d\n", number);
		if (number != SIGWINCH && number != SIGCONT) return number;
	}
}

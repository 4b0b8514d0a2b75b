/*
 * Starts two sandboxes in turn and prints for each pair how long both took from fork to wait, in nanoseconds:
 *   spawn-pairs COUNT LAUNCHER PLAN REPORT OTHER [ARGUMENT...]
 * LAUNCHER gets PLAN as descriptor 3, REPORT as 4 and this process's id; OTHER is run as it is given.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	_exit(125);
}

static long long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void place(const char *path, int flags, int wanted)
{
	int fd = open(path, flags, 0600);
	if (fd < 0)
		fail(path);
	if (fd == wanted)
		return;
	if (dup2(fd, wanted) < 0)
		fail("dup2");
	close(fd);
}

static long long run(char **arguments, const char *plan, const char *report)
{
	long long began = now();
	int status;
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		if (plan) {
			place(plan, O_RDONLY, 3);
			place(report, O_RDWR | O_CREAT | O_TRUNC, 4);
		}
		execv(arguments[0], arguments);
		fail(arguments[0]);
	}
	if (waitpid(child, &status, 0) < 0)
		fail("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "%s ended with status %x\n", arguments[0], status);
		exit(1);
	}
	return now() - began;
}

int main(int count, char **arguments)
{
	char own[16];
	char *launch[] = { arguments[2], own, NULL };
	if (count < 6)
		return 2;
	snprintf(own, sizeof own, "%d", (int)getpid());
	for (int pairs = atoi(arguments[1]); pairs > 0; pairs--) {
		long long ours = run(launch, arguments[3], arguments[4]);
		printf("%lld %lld\n", ours, run(arguments + 5, NULL, NULL));
	}
	return 0;
}

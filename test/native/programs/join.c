/* join PID PROGRAM ARGUMENT...: runs a program in the user, mount and pid namespaces of a process, and plainly waits for it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The user namespace is the caller's own when the sandbox was made by root: there is nothing to enter then. */
static const struct {
	const char *name;
	int flag;
} namespaces[] = {{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS}, {"pid", CLONE_NEWPID}};

int main(int count, char **argument) {
	if (count < 3) return 2;
	int files[3];
	for (int i = 0; i < 3; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%s/ns/%s", argument[1], namespaces[i].name);
		files[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	for (int i = 0; i < 3; i++)
		if (setns(files[i], namespaces[i].flag) && i > 0) {
			perror(namespaces[i].name);
			return 1;
		}
	pid_t child = fork();
	if (child == 0) {
		execvp(argument[2], argument + 2);
		_exit(127);
	}
	int status;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

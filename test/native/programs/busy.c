/*
 * A process that is hard to stop. Each of its parts appends single bytes to the file given; the way is
 *   threads N      N threads write
 *   no-leader N    the same, and the first thread has ended: the process shows as a zombie
 *   vfork-waits N  N threads write while the first one waits in vfork for a child that never ends
 *   vfork-loop     vfork and exec, one after the other
 *   fork-chain     each process forks the next one and ends
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int file;

static void progress(void) {
	if (write(file, "x", 1) != 1) _exit(1);
}

static void *write_on(void *unused) {
	(void)unused;
	for (;;) progress();
	return NULL;
}

static void start_threads(int count) {
	for (int i = 0; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, write_on, NULL)) exit(1);
	}
}

int main(int count, char **argument) {
	if (count < 3) return 2;
	const char *way = argument[2];
	int parts = count > 3 ? atoi(argument[3]) : 1;
	file = open(argument[1], O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (file < 0) return 1;
	if (!strcmp(way, "threads")) {
		start_threads(parts);
		pause();
	} else if (!strcmp(way, "no-leader")) {
		start_threads(parts);
		pthread_exit(NULL);
	} else if (!strcmp(way, "vfork-waits")) {
		start_threads(parts);
		if (vfork() == 0)
			for (;;) pause();
	} else if (!strcmp(way, "vfork-loop")) {
		for (;;) {
			progress();
			pid_t child = vfork();
			if (child == 0) {
				execl("/bin/true", "true", (char *)NULL);
				_exit(1);
			}
			waitpid(child, NULL, 0);
		}
	} else if (!strcmp(way, "fork-chain")) {
		for (;;) {
			progress();
			if (fork() > 0) _exit(0);
		}
	}
	return 2;
}

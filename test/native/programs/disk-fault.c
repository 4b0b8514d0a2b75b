/*
 * A library to preload (ld.so(8), LD_PRELOAD): counts what is written, synced, cut and renamed at paths that hold a given
 * text, and makes the n-th of them fail, or stops the process there so that the test can cut the power.
 *
 *   DISK_FAULT_PATH    text that the path holds; the -shm is never counted, it is memory
 *   DISK_FAULT_AT      n, from 1; 0 or absent only counts
 *   DISK_FAULT_ERRNO   the error number; 0 stops instead, having said "disk-fault: stopped" on stderr
 *   DISK_FAULT_STAYS   1: every call from the n-th on fails, as on a disk that is full or gone
 *   DISK_FAULT_COUNT   a file that gets the count at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path_text[256];
static char count_file[PATH_MAX];
static int fail_at, fail_errno, stays;
static int count;

/* Also called from the test's own process, to fail one thing after another in it. Returns the count until now. */
int disk_fault_arm(const char *text, int at, int error, int on)
{
	int before = count;

	snprintf(path_text, sizeof path_text, "%s", text);
	fail_at = at;
	fail_errno = error;
	stays = on;
	count = 0;
	return before;
}

static int number(const char *name)
{
	const char *text = getenv(name);

	return text == NULL ? 0 : atoi(text);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("DISK_FAULT_PATH");
	const char *file = getenv("DISK_FAULT_COUNT");

	if (text != NULL)
		disk_fault_arm(text, number("DISK_FAULT_AT"), number("DISK_FAULT_ERRNO"), number("DISK_FAULT_STAYS"));
	if (file != NULL)
		snprintf(count_file, sizeof count_file, "%s", file);
}

__attribute__((destructor)) static void end(void)
{
	FILE *out = count_file[0] == 0 ? NULL : fopen(count_file, "w");

	if (out == NULL)
		return;
	fprintf(out, "%d\n", count);
	fclose(out);
}

/* 0 to go on, -1 with errno to fail. */
static int happens(const char *path)
{
	size_t length = strlen(path);
	int now;

	if (path_text[0] == 0 || strstr(path, path_text) == NULL || (length > 4 && strcmp(path + length - 4, "-shm") == 0))
		return 0;
	now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
	if (fail_at == 0 || now < fail_at || (now > fail_at && !stays))
		return 0;
	if (fail_errno == 0) {
		static const char text[] = "disk-fault: stopped\n";

		syscall(SYS_write, 2, text, sizeof text - 1);
		for (;;)
			pause();
	}
	errno = fail_errno;
	return -1;
}

static int happens_to(int fd)
{
	char link[40], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return 0;
	path[length] = 0;
	return happens(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITE_CALL(name, parameters, ...)                                                                                      \
	ssize_t name parameters                                                                                                \
	{                                                                                                                      \
		return happens_to(fd) != 0 ? -1 : REAL(name)(__VA_ARGS__);                                                     \
	}
/* A full disk refuses no sync and no cut. */
#define FD_CALL(name, parameters, ...)                                                                                         \
	int name parameters                                                                                                    \
	{                                                                                                                      \
		return fail_errno != ENOSPC && happens_to(fd) != 0 ? -1 : REAL(name)(__VA_ARGS__);                             \
	}
#define PATH_CALL(name, parameters, path, ...)                                                                                 \
	int name parameters                                                                                                    \
	{                                                                                                                      \
		return fail_errno != ENOSPC && happens(path) != 0 ? -1 : REAL(name)(__VA_ARGS__);                              \
	}

WRITE_CALL(write, (int fd, const void *data, size_t size), fd, data, size)
WRITE_CALL(pwrite, (int fd, const void *data, size_t size, off_t at), fd, data, size, at)
WRITE_CALL(pwrite64, (int fd, const void *data, size_t size, off64_t at), fd, data, size, at)
FD_CALL(ftruncate, (int fd, off_t size), fd, size)
FD_CALL(ftruncate64, (int fd, off64_t size), fd, size)
FD_CALL(fsync, (int fd), fd)
FD_CALL(fdatasync, (int fd), fd)
PATH_CALL(rename, (const char *from, const char *to), to, from, to)
PATH_CALL(link, (const char *from, const char *to), to, from, to)

/* One that is there already is not made. */
int mkdir(const char *path, mode_t mode)
{
	return access(path, F_OK) != 0 && happens(path) != 0 ? -1 : REAL(mkdir)(path, mode);
}

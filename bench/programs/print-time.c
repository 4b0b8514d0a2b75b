/* Prints the monotonic clock, in nanoseconds, as the first thing that it does. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
	return 0;
}

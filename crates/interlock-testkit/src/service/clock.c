/* Preloaded into a server under test: its wall clock is the machine's plus the seconds in the file that INTERLOCK_CLOCK names. The
   file is mapped, so a step takes effect at once. Monotonic clocks stay as they are, as when an operator sets the time. libfaketime
   would do the same, but calls itself without end in a server that is linked with jemalloc, as Debian's Redis is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *shift;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("INTERLOCK_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *at = mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (at != MAP_FAILED) shift = at;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *shift;
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  int failed = clock_gettime(CLOCK_REALTIME, &exact);
  if (!failed && now) {
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
  }
  return failed;
}

time_t time(time_t *now) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}

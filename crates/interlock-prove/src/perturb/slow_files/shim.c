/* Makes file operations take longer, as a busy disk does. Loaded in front of the C library (LD_PRELOAD) into a server and its children.
 *
 * The other side is `control.rs`: a file that both map or read, whose path is in INTERLOCK_SLOW_FILES. While its `run` is zero every wrapper is
 * one relaxed load and the original call. Otherwise an operation on a file may pause, before or after, and is noted in the file.
 *
 * Rules that keep this harmless:
 *  - The original call is made exactly once with what it was given, and `errno` afterwards is its own.
 *  - No allocation, no lock, no call through the wrapped names: what is needed is asked of the kernel directly. So it may run in signal
 *    handlers, between fork and exec, and before the C library is ready.
 *  - What a descriptor is, is asked each time instead of remembered: a memory of it would be shared with a vfork child, whose descriptors
 *    are its own, and would miss every way of closing that has no wrapper.
 *  - Only regular files, never descriptors 0 to 2, never what belongs to the system or the program itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- What is shared. `control.rs` knows the same layout. ---- */

enum { TICKS = 4096, TEXT = 488 };

enum kind { LOOK, CHANGE, WAIT };

struct tick {
    _Atomic uint64_t run; /* Written last: the tick is complete and belongs to this run. */
    uint64_t at;          /* Nanoseconds of the monotonic clock. */
    uint32_t kind;
    uint32_t length;
    char text[TEXT]; /* A word, a space, a path. */
};

struct control {
    _Atomic uint64_t run;        /* Zero while nothing is to happen. */
    _Atomic uint64_t seed;       /* Which operations pause; see `choose`. */
    _Atomic uint64_t longest;    /* Nanoseconds of one pause. */
    _Atomic int64_t left;        /* Nanoseconds that may still be spent in this run, by all threads together. */
    _Atomic uint64_t threads;    /* How many threads did something in this run. */
    _Atomic uint64_t looks;      /* How many operations told somebody something. */
    _Atomic uint64_t changes;    /* How many changed something. */
    _Atomic uint64_t ticks;      /* How many were noted; more than there is room for is possible. */
    _Atomic uint64_t loaded;     /* How many processes have loaded this. */
    struct tick tick[TICKS];
};

static struct control *control;

/* One operation that is under way. */
struct operation {
    enum kind kind;
    uint64_t run;
    uint64_t after; /* Nanoseconds to pause when it is done. */
    uint32_t length;
    char text[TEXT];
};

__attribute__((constructor)) static void load(void) {
    const char *path = getenv("INTERLOCK_SLOW_FILES");
    if (path == NULL)
        return;
    int before = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    struct statx what;
    if (fd >= 0 && syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &what) == 0 &&
        what.stx_size >= sizeof(struct control)) {
        void *at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            control = at;
            atomic_fetch_add(&control->loaded, 1);
        }
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = before;
}

static inline bool armed(void) {
    return control != NULL && atomic_load_explicit(&control->run, memory_order_relaxed) != 0;
}

/* ---- Which operations pause, and for how long. ---- */

/* Numbers of this thread: its place among the threads of the run, and how many operations it has done in it. */
static _Thread_local uint64_t my_run, my_number, my_operations;

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* Low seeds are the patterns that most races need; `mod.rs` describes them. */
static void choose(struct operation *operation, uint64_t *before) {
    uint64_t longest = atomic_load(&control->longest), seed = atomic_load(&control->seed);
    if (my_run != operation->run) {
        my_run = operation->run;
        my_number = atomic_fetch_add(&control->threads, 1);
        my_operations = 0;
    }
    uint64_t turn = my_operations++;
    /* Less and less, so that a caller with many operations is not all pauses. */
    uint64_t some = longest / (3 + turn / 4);
    bool opens = memcmp(operation->text, "open ", 5) == 0;
    bool first_look = operation->kind == LOOK && !opens && atomic_fetch_add(&control->looks, 1) == 0;
    bool first_change = operation->kind == CHANGE && atomic_fetch_add(&control->changes, 1) == 0;
    uint64_t pause = 0, chance = mix(mix(mix(seed) ^ my_number) ^ turn);
    /* A pause after a look, or before a change, lies between the two; a file that was opened to be written may be empty by now. */
    bool goes_before = operation->kind == CHANGE && !opens;
    switch (seed) {
    case 0: pause = operation->kind == LOOK ? some : 0; break;
    case 1: pause = operation->kind == CHANGE ? some : 0; break;
    case 2: pause = first_look ? longest : 0; break;
    case 3: pause = first_change ? longest : 0; break;
    case 4:
    case 5: pause = my_number == seed - 4 ? some : some / 5; break;
    default:
        if (chance % 4 == 0 && longest > 0)
            pause = longest / 30 + (chance >> 8) % longest;
        if (pause > longest)
            pause = longest;
        goes_before = (chance >> 4) % 2 == 0;
    }
    if (pause > 0 && atomic_fetch_sub(&control->left, (int64_t)pause) < (int64_t)pause) {
        atomic_fetch_add(&control->left, (int64_t)pause);
        pause = 0;
    }
    *before = goes_before ? pause : 0;
    operation->after = goes_before ? 0 : pause;
}

static void wait_for(uint64_t nanoseconds) {
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    if (nanoseconds > 0)
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* ---- Before and after an operation. ---- */

/* What belongs to the system or to the program: reading it is slow on a busy disk too, but no call races for it. */
static bool is_program(const char *path) {
    static const char *const fronts[] = {"/proc/", "/sys/", "/dev/", "/usr/", "/lib/", "/lib64/", "/etc/", "/bin/", "/memfd:"};
    static const char *const parts[] = {"/node_modules/", "/site-packages/", "/dist-packages/", "/lib/python", "/__pycache__/"};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (strncmp(path, fronts[i], strlen(fronts[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]) != NULL)
            return true;
    return false;
}

static bool begin(struct operation *operation, enum kind kind, const char *word, const char *path) {
    if (is_program(path))
        return false;
    operation->kind = kind;
    operation->run = atomic_load(&control->run);
    size_t front = strlen(word), rest = strlen(path);
    if (rest > TEXT - front - 1)
        rest = TEXT - front - 1;
    memcpy(operation->text, word, front);
    operation->text[front] = ' ';
    memcpy(operation->text + front + 1, path, rest);
    operation->length = (uint32_t)(front + 1 + rest);
    uint64_t before;
    choose(operation, &before);
    wait_for(before);
    return true;
}

/* An operation on an open file. */
__attribute__((noinline)) static bool begin_file(struct operation *operation, enum kind kind, const char *word, int fd) {
    if (fd <= 2)
        return false;
    int kept = errno;
    bool begun = false;
    struct statx what;
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &what) == 0 && S_ISREG(what.stx_mode)) {
        char link[] = "/proc/self/fd/0000000000", path[TEXT];
        char *digit = link + sizeof link - 1;
        /* The kernel takes no leading zeros in the number, so the name is moved up to it. */
        for (int rest = fd; rest > 0; rest /= 10)
            *--digit = (char)('0' + rest % 10);
        digit -= strlen("/proc/self/fd/");
        memmove(digit, link, strlen("/proc/self/fd/"));
        long length = syscall(SYS_readlinkat, AT_FDCWD, digit, path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
        begun = begin(operation, kind, word, path);
    }
    errno = kept;
    return begun;
}

/* An operation on a name. The kernel looks at the pointer first, so that a bad one gets the answer that it would have got. */
__attribute__((noinline)) static bool begin_path(struct operation *operation, enum kind kind, const char *word, int folder,
                                                 const char *path) {
    if (path == NULL)
        return false;
    int kept = errno;
    struct statx what;
    bool there = syscall(SYS_statx, folder, path, 0, STATX_TYPE, &what) == 0;
    bool counts = there ? S_ISREG(what.stx_mode) || S_ISDIR(what.stx_mode) : errno != EFAULT && errno != ENAMETOOLONG;
    bool begun = counts && path[0] != 0 && begin(operation, kind, word, path);
    errno = kept;
    return begun;
}

__attribute__((noinline)) static void end(const struct operation *operation) {
    int kept = errno;
    struct timespec now = {0, 0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    if (atomic_load(&control->run) == operation->run) {
        uint64_t place = atomic_fetch_add(&control->ticks, 1);
        if (place < TICKS) {
            struct tick *tick = &control->tick[place];
            tick->at = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
            tick->kind = operation->kind;
            tick->length = operation->length;
            memcpy(tick->text, operation->text, operation->length);
            atomic_store_explicit(&tick->run, operation->run, memory_order_release);
        }
        wait_for(operation->after);
    }
    errno = kept;
}

/* ---- The wrappers. ---- */

/* The next definition of a name: the C library's, or that of another object that was loaded in front. */
static inline void *next(void **found, const char *name) {
    void *address = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (address == NULL) {
        address = dlsym(RTLD_NEXT, name);
        __atomic_store_n(found, address, __ATOMIC_RELAXED);
    }
    return address;
}
#define NEXT(name)                                                                                                             \
    ({                                                                                                                         \
        static void *found;                                                                                                    \
        (__typeof__(&name)) next(&found, #name);                                                                               \
    })

#define AROUND(begun, name, ...)                                                                                               \
    do {                                                                                                                       \
        struct operation operation;                                                                                            \
        if (!armed() || !(begun))                                                                                              \
            return NEXT(name)(__VA_ARGS__);                                                                                    \
        __auto_type result = NEXT(name)(__VA_ARGS__);                                                                          \
        end(&operation);                                                                                                       \
        return result;                                                                                                         \
    } while (0)

#define ON_FILE(kind, word, type, name, parameters, fd, ...)                                                                   \
    type name parameters { AROUND(begin_file(&operation, kind, word, fd), name, __VA_ARGS__); }
#define ON_PATH(kind, word, type, name, parameters, folder, path, ...)                                                         \
    type name parameters { AROUND(begin_path(&operation, kind, word, folder, path), name, __VA_ARGS__); }

typedef const char *text;
typedef const struct iovec *parts;

/* Names that only programs use which were built with hardening, or for an older C library: no header declares them. */
int __open_2(text, int), __open64_2(text, int), __openat_2(int, text, int), __openat64_2(int, text, int);
ssize_t __read_chk(int, void *, size_t, size_t), __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
int __xstat(int, text, struct stat *), __lxstat(int, text, struct stat *), __fxstatat(int, int, text, struct stat *, int);
int __xstat64(int, text, struct stat64 *), __lxstat64(int, text, struct stat64 *);
int __fxstatat64(int, int, text, struct stat64 *, int);

/* Opening looks, unless it may create or empty the file. */
#define OPENS(flags) ((flags) & (O_CREAT | O_TRUNC) ? CHANGE : LOOK), "open"
#define MODE(flags)                                                                                                            \
    mode_t mode = 0;                                                                                                           \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                             \
        va_list rest;                                                                                                          \
        va_start(rest, flags);                                                                                                 \
        mode = va_arg(rest, mode_t);                                                                                           \
        va_end(rest);                                                                                                          \
    }
#define OPEN(name)                                                                                                             \
    int name(text path, int flags, ...) {                                                                                      \
        MODE(flags)                                                                                                            \
        AROUND(begin_path(&operation, OPENS(flags), AT_FDCWD, path), name, path, flags, mode);                                 \
    }
#define OPENAT(name)                                                                                                           \
    int name(int folder, text path, int flags, ...) {                                                                          \
        MODE(flags)                                                                                                            \
        AROUND(begin_path(&operation, OPENS(flags), folder, path), name, folder, path, flags, mode);                           \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
int __open_2(text path, int flags) { AROUND(begin_path(&operation, OPENS(flags), AT_FDCWD, path), __open_2, path, flags); }
int __open64_2(text path, int flags) { AROUND(begin_path(&operation, OPENS(flags), AT_FDCWD, path), __open64_2, path, flags); }
int __openat_2(int folder, text path, int flags) {
    AROUND(begin_path(&operation, OPENS(flags), folder, path), __openat_2, folder, path, flags);
}
int __openat64_2(int folder, text path, int flags) {
    AROUND(begin_path(&operation, OPENS(flags), folder, path), __openat64_2, folder, path, flags);
}
ON_PATH(CHANGE, "open", int, creat, (text path, mode_t mode), AT_FDCWD, path, path, mode)
ON_PATH(CHANGE, "open", int, creat64, (text path, mode_t mode), AT_FDCWD, path, path, mode)
#define FOPENS(how) ((how) != NULL && (how)[0] != 'r' ? CHANGE : LOOK), "open"
FILE *fopen(text path, text how) { AROUND(begin_path(&operation, FOPENS(how), AT_FDCWD, path), fopen, path, how); }
FILE *fopen64(text path, text how) { AROUND(begin_path(&operation, FOPENS(how), AT_FDCWD, path), fopen64, path, how); }

ON_PATH(LOOK, "access", int, access, (text path, int how), AT_FDCWD, path, path, how)
ON_PATH(LOOK, "access", int, euidaccess, (text path, int how), AT_FDCWD, path, path, how)
ON_PATH(LOOK, "access", int, eaccess, (text path, int how), AT_FDCWD, path, path, how)
ON_PATH(LOOK, "access", int, faccessat, (int in, text path, int how, int flags), in, path, in, path, how, flags)
ON_PATH(LOOK, "stat", int, stat, (text path, struct stat *to), AT_FDCWD, path, path, to)
ON_PATH(LOOK, "stat", int, stat64, (text path, struct stat64 *to), AT_FDCWD, path, path, to)
ON_PATH(LOOK, "stat", int, lstat, (text path, struct stat *to), AT_FDCWD, path, path, to)
ON_PATH(LOOK, "stat", int, lstat64, (text path, struct stat64 *to), AT_FDCWD, path, path, to)
ON_PATH(LOOK, "stat", int, fstatat, (int in, text path, struct stat *to, int flags), in, path, in, path, to, flags)
ON_PATH(LOOK, "stat", int, fstatat64, (int in, text path, struct stat64 *to, int flags), in, path, in, path, to, flags)
ON_PATH(LOOK, "stat", int, statx, (int in, text path, int flags, unsigned mask, struct statx *to), in, path, in, path, flags, mask, to)
ON_PATH(LOOK, "stat", int, __xstat, (int v, text path, struct stat *to), AT_FDCWD, path, v, path, to)
ON_PATH(LOOK, "stat", int, __xstat64, (int v, text path, struct stat64 *to), AT_FDCWD, path, v, path, to)
ON_PATH(LOOK, "stat", int, __lxstat, (int v, text path, struct stat *to), AT_FDCWD, path, v, path, to)
ON_PATH(LOOK, "stat", int, __lxstat64, (int v, text path, struct stat64 *to), AT_FDCWD, path, v, path, to)
ON_PATH(LOOK, "stat", int, __fxstatat, (int v, int in, text path, struct stat *to, int flags), in, path, v, in, path, to, flags)
ON_PATH(LOOK, "stat", int, __fxstatat64, (int v, int in, text path, struct stat64 *to, int flags), in, path, v, in, path, to, flags)
ON_PATH(LOOK, "readlink", ssize_t, readlink, (text path, char *to, size_t size), AT_FDCWD, path, path, to, size)
ON_PATH(LOOK, "list", DIR *, opendir, (text path), AT_FDCWD, path, path)

ON_PATH(CHANGE, "rename", int, rename, (text from, text path), AT_FDCWD, path, from, path)
ON_PATH(CHANGE, "rename", int, renameat, (int of, text from, int in, text path), in, path, of, from, in, path)
ON_PATH(CHANGE, "rename", int, renameat2, (int of, text from, int in, text path, unsigned how), in, path, of, from, in, path, how)
ON_PATH(CHANGE, "unlink", int, unlink, (text path), AT_FDCWD, path, path)
ON_PATH(CHANGE, "unlink", int, unlinkat, (int in, text path, int flags), in, path, in, path, flags)
ON_PATH(CHANGE, "unlink", int, remove, (text path), AT_FDCWD, path, path)
ON_PATH(CHANGE, "rmdir", int, rmdir, (text path), AT_FDCWD, path, path)
ON_PATH(CHANGE, "mkdir", int, mkdir, (text path, mode_t mode), AT_FDCWD, path, path, mode)
ON_PATH(CHANGE, "mkdir", int, mkdirat, (int in, text path, mode_t mode), in, path, in, path, mode)
ON_PATH(CHANGE, "link", int, link, (text from, text path), AT_FDCWD, path, from, path)
ON_PATH(CHANGE, "link", int, linkat, (int of, text from, int in, text path, int flags), in, path, of, from, in, path, flags)
ON_PATH(CHANGE, "symlink", int, symlink, (text to, text path), AT_FDCWD, path, to, path)
ON_PATH(CHANGE, "symlink", int, symlinkat, (text to, int in, text path), in, path, to, in, path)
ON_PATH(CHANGE, "truncate", int, truncate, (text path, off_t size), AT_FDCWD, path, path, size)
ON_PATH(CHANGE, "truncate", int, truncate64, (text path, off64_t size), AT_FDCWD, path, path, size)

ON_FILE(LOOK, "read", ssize_t, read, (int fd, void *to, size_t size), fd, fd, to, size)
ON_FILE(LOOK, "read", ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), fd, fd, to, size, room)
ON_FILE(LOOK, "read", ssize_t, pread, (int fd, void *to, size_t size, off_t at), fd, fd, to, size, at)
ON_FILE(LOOK, "read", ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), fd, fd, to, size, at)
ON_FILE(LOOK, "read", ssize_t, __pread_chk, (int fd, void *to, size_t size, off_t at, size_t room), fd, fd, to, size, at, room)
ON_FILE(LOOK, "read", ssize_t, __pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room), fd, fd, to, size, at, room)
ON_FILE(LOOK, "read", ssize_t, readv, (int fd, parts to, int count), fd, fd, to, count)
ON_FILE(LOOK, "read", ssize_t, preadv, (int fd, parts to, int count, off_t at), fd, fd, to, count, at)
ON_FILE(LOOK, "read", ssize_t, preadv64, (int fd, parts to, int count, off64_t at), fd, fd, to, count, at)
ON_FILE(LOOK, "read", size_t, fread, (void *to, size_t size, size_t count, FILE *file), fileno(file), to, size, count, file)
ON_FILE(LOOK, "read", char *, fgets, (char *to, int size, FILE *file), fileno(file), to, size, file)

ON_FILE(CHANGE, "write", ssize_t, write, (int fd, const void *from, size_t size), fd, fd, from, size)
ON_FILE(CHANGE, "write", ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), fd, fd, from, size, at)
ON_FILE(CHANGE, "write", ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), fd, fd, from, size, at)
ON_FILE(CHANGE, "write", ssize_t, writev, (int fd, parts from, int count), fd, fd, from, count)
ON_FILE(CHANGE, "write", ssize_t, pwritev, (int fd, parts from, int count, off_t at), fd, fd, from, count, at)
ON_FILE(CHANGE, "write", ssize_t, pwritev64, (int fd, parts from, int count, off64_t at), fd, fd, from, count, at)
ON_FILE(CHANGE, "write", ssize_t, copy_file_range,
        (int of, off64_t *from, int fd, off64_t *at, size_t size, unsigned flags), fd, of, from, fd, at, size, flags)
ON_FILE(CHANGE, "write", size_t, fwrite, (const void *from, size_t size, size_t count, FILE *file), fileno(file), from, size, count, file)
ON_FILE(CHANGE, "flush", int, fflush, (FILE *file), file == NULL ? -1 : fileno(file), file)
ON_FILE(CHANGE, "close", int, fclose, (FILE *file), fileno(file), file)
ON_FILE(CHANGE, "sync", int, fsync, (int fd), fd, fd)
ON_FILE(CHANGE, "sync", int, fdatasync, (int fd), fd, fd)
ON_FILE(CHANGE, "truncate", int, ftruncate, (int fd, off_t size), fd, fd, size)
ON_FILE(CHANGE, "truncate", int, ftruncate64, (int fd, off64_t size), fd, fd, size)

ON_FILE(WAIT, "lock", int, flock, (int fd, int how), fd, fd, how)
ON_FILE(WAIT, "lock", int, lockf, (int fd, int how, off_t size), fd, fd, how, size)
ON_FILE(WAIT, "lock", int, lockf64, (int fd, int how, off64_t size), fd, fd, how, size)

/* Only asking for a lock counts; a number and a pointer travel alike, so the rest goes through unread. */
static inline bool locks(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
#define FCNTL(name)                                                                                                            \
    int name(int fd, int command, ...) {                                                                                       \
        va_list rest;                                                                                                          \
        va_start(rest, command);                                                                                               \
        void *argument = va_arg(rest, void *);                                                                                 \
        va_end(rest);                                                                                                          \
        AROUND(locks(command) && begin_file(&operation, WAIT, "lock", fd), name, fd, command, argument);                       \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

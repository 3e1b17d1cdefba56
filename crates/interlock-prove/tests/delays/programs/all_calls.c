/* Every call that the shim stands in front of, once, with what it returns and leaves in errno, in one line. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a call returns, and that it leaves errno alone unless it fails. */
#define SAY(call)                                                                                                              \
    do {                                                                                                                       \
        errno = 77;                                                                                                            \
        long result = (long)(call);                                                                                            \
        printf(" %ld/%d", result, errno);                                                                                      \
    } while (0)

int main(void) {
    char line[32], text[64];
    struct stat about;
    struct statx more;
    struct iovec part = {text, 2}, two = {"vw", 2};
    struct flock lock = {.l_type = F_WRLCK};
    const char *nothing = NULL, *long_name = memset(malloc(9000), 'x', 8999);
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;

    int fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0600);
    SAY(fstat(fd, &about) == 0 ? about.st_mode & 07777 : 0);
    SAY(write(fd, "abcdef", 6));
    SAY(pwrite(fd, "X", 1, 1));
    SAY(writev(fd, &two, 1));
    SAY(pwritev(fd, &two, 1, 8));
    SAY(pread(fd, text, 4, 0));
    SAY(memcmp(text, "aXcd", 4));
    SAY(lseek(fd, 0, SEEK_SET));
    SAY(read(fd, text, 6));
    SAY(readv(fd, &part, 1));
    SAY(preadv(fd, &part, 1, 8));
    SAY(memcmp(text, "vw", 2));
    SAY(fsync(fd));
    SAY(fdatasync(fd));
    SAY(ftruncate(fd, 3));
    SAY(truncate("a", 2));
    SAY(flock(fd, LOCK_EX | LOCK_NB));
    SAY(fcntl(fd, F_SETLK, &lock));
    SAY(lockf(fd, F_ULOCK, 0));
    SAY(fcntl(fd, F_GETFL) & O_ACCMODE);
    SAY(fcntl(fd, F_SETFD, FD_CLOEXEC));
    SAY(fcntl(fd, F_GETFD));
    SAY(close(fd));
    SAY(read(fd, text, 1));
    SAY(write(-1, text, 1));

    SAY(open("none", O_RDONLY));
    SAY(open("a", O_WRONLY | O_CREAT | O_EXCL, 0600));
    SAY(open(nothing, O_RDONLY));
    SAY(open((const char *)1, O_RDONLY));
    SAY(open(long_name, O_RDONLY));
    SAY(open("", O_RDONLY));
    SAY(stat(nothing, &about));
    SAY(close(openat(AT_FDCWD, "c", O_CREAT | O_WRONLY, 0640)));
    SAY(stat("c", &about) == 0 ? about.st_mode & 07777 : 0);
    SAY(close(creat("d", 0600)));
    SAY(access("a", R_OK));
    SAY(access("none", R_OK));
    SAY(faccessat(AT_FDCWD, "a", W_OK, 0));
    SAY(lstat("a", &about));
    SAY(about.st_size);
    SAY(fstatat(AT_FDCWD, "a", &about, 0));
    SAY(statx(AT_FDCWD, "a", 0, STATX_SIZE, &more));
    SAY(more.stx_size);
    SAY(rename("a", "b"));
    SAY(rename("a", "b"));
    SAY(renameat(AT_FDCWD, "c", AT_FDCWD, "e"));
    SAY(renameat2(AT_FDCWD, "d", AT_FDCWD, "e", RENAME_NOREPLACE));
    SAY(link("b", "f"));
    SAY(symlink("b", "g"));
    SAY(readlink("g", text, sizeof text));
    SAY(mkdir("h", 0700));
    SAY(mkdir("h", 0700));
    DIR *folder = opendir("h");
    SAY(folder != NULL);
    SAY(closedir(folder));
    SAY(unlinkat(AT_FDCWD, "h", AT_REMOVEDIR));
    SAY(rmdir("h"));
    SAY(unlink("f"));
    SAY(remove("g"));

    FILE *file = fopen("i", "w+");
    SAY(fwrite("hello\n", 1, 6, file));
    SAY(fflush(file));
    rewind(file);
    SAY(fgets(text, sizeof text, file) == text);
    rewind(file);
    SAY(fread(text, 1, 5, file));
    SAY(memcmp(text, "hello", 5));
    SAY(fclose(file));
    SAY(fopen("none", "r") != NULL);
    fd = open("/dev/null", O_WRONLY);
    SAY(write(fd, "x", 1));
    int pipes[2];
    SAY(pipe(pipes));
    SAY(write(pipes[1], "x", 1));
    SAY(read(pipes[0], text, 9));
    printf(" done\n");
    fflush(NULL);
    return 0;
}

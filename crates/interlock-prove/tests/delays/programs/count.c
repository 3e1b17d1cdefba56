/* Two callers, the second 10 ms after the first: read a number, add one, write it back. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *call(void *late) {
    if (late)
        usleep(10000);
    char text[32] = {0};
    int fd = open("count", O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    int size = snprintf(text, sizeof text, "%d", got > 0 ? atoi(text) + 1 : -1);
    fd = open("count", O_WRONLY | O_TRUNC);
    ssize_t put = write(fd, text, (size_t)size);
    (void)put;
    close(fd);
    return NULL;
}

int main(void) {
    char line[32];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        pthread_t first, second;
        pthread_create(&first, NULL, call, NULL);
        pthread_create(&second, NULL, call, line);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        puts("done");
    }
    return 0;
}

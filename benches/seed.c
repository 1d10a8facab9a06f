/* Randomness that is the same each time, to be loaded in front of the C library: hash maps are then laid out alike in every
   run, and take as many steps. Only for counting instructions. */
#include <string.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    (void)flags;
    memset(buffer, 42, length);
    return (ssize_t)length;
}

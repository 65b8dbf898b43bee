/*
 * Runs a command and kills its whole process group at the N-th system call that changes something on a disk, counted over
 * all its processes and threads in the order in which they come. strace counts each thread by itself, and so passes by
 * most calls of the processes that come later. For Linux; a debugger's right to trace is needed.
 *
 *     kill-at N command [argument...]      N = 0: none is killed, they are counted
 *
 * The call itself is not made. Prints as its last line `killed N name path` (exit code 137) or `counted N` (the command's
 * exit code); ends only when no process of the command is left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which argument shows whether a call changes a disk. */
enum kind { ALWAYS, BY_FD0, BY_FD1, BY_FLAGS1, BY_FLAGS2 };

static const struct {
  int nr;
  const char *name;
  enum kind kind;
} CALLS[] = {
#define CALL(name, kind) {__NR_##name, #name, kind},
#ifdef __NR_open
    CALL(open, BY_FLAGS1) CALL(creat, ALWAYS) CALL(rename, ALWAYS) CALL(link, ALWAYS) CALL(unlink, ALWAYS)
    CALL(mkdir, ALWAYS) CALL(rmdir, ALWAYS) CALL(symlink, ALWAYS) CALL(chmod, ALWAYS) CALL(chown, ALWAYS)
    CALL(lchown, ALWAYS) CALL(utimes, ALWAYS) CALL(utime, ALWAYS)
#endif
#ifdef __NR_renameat
    CALL(renameat, ALWAYS)
#endif
    CALL(openat, BY_FLAGS2) CALL(renameat2, ALWAYS) CALL(linkat, ALWAYS) CALL(unlinkat, ALWAYS)
    CALL(mkdirat, ALWAYS) CALL(symlinkat, ALWAYS) CALL(fchmodat, ALWAYS) CALL(fchownat, ALWAYS)
    CALL(utimensat, ALWAYS) CALL(truncate, ALWAYS) CALL(write, BY_FD0) CALL(pwrite64, BY_FD0)
    CALL(writev, BY_FD0) CALL(pwritev, BY_FD0) CALL(pwritev2, BY_FD0) CALL(ftruncate, BY_FD0)
    CALL(fallocate, BY_FD0) CALL(fchmod, BY_FD0) CALL(fchown, BY_FD0) CALL(fsync, BY_FD0)
    CALL(fdatasync, BY_FD0) CALL(sendfile, BY_FD0) CALL(copy_file_range, BY_FD1)
};
enum { CALL_COUNT = sizeof CALLS / sizeof CALLS[0] };

static void die(const char *what) {
  fprintf(stderr, "kill-at: %s: %s\n", what, strerror(errno));
  exit(125);
}

/* Stops only at the calls of the list: the others run at full speed. */
static void install_filter(void) {
  struct sock_filter code[CALL_COUNT + 3];
  size_t n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < CALL_COUNT; i++)
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].nr, CALL_COUNT - i, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {.len = n, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("no new privileges");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) die("seccomp");
}

/* The file behind a descriptor, if a disk may hold it. */
static int disk_path(pid_t thread, uint64_t fd, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, (int)fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return path[0] == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

/* The call at which the thread stands, if it changes something: its place in CALLS, else -1. */
static int changing_call(pid_t thread, char *path, size_t size) {
  struct __ptrace_syscall_info info;
  path[0] = 0;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0) return -1;
  const uint64_t nr = info.seccomp.nr;
  const uint64_t *args = info.seccomp.args;
  for (int i = 0; i < CALL_COUNT; i++) {
    if ((uint64_t)CALLS[i].nr != nr) continue;
    switch (CALLS[i].kind) {
      case ALWAYS: return i;
      case BY_FD0: return disk_path(thread, args[0], path, size) ? i : -1;
      case BY_FD1: return disk_path(thread, args[2], path, size) ? i : -1;
      case BY_FLAGS1: return (args[1] & (O_CREAT | O_TRUNC)) != 0 ? i : -1;
      case BY_FLAGS2: return (args[2] & (O_CREAT | O_TRUNC)) != 0 ? i : -1;
    }
  }
  return -1;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: kill-at N command [argument...]\n");
    return 125;
  }
  const long target = atol(argv[1]);
  const pid_t root = fork();
  if (root < 0) die("fork");
  if (root == 0) {
    setpgid(0, 0);
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) die("trace");
    raise(SIGSTOP);
    install_filter();
    execvp(argv[2], argv + 2);
    die(argv[2]);
  }
  int status;
  if (waitpid(root, &status, 0) != root) die("wait");
  const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, root, 0, options) != 0) die("options");
  ptrace(PTRACE_CONT, root, 0, 0);

  long count = 0;
  int is_killed = 0, code = 0;
  char path[4096], where[4096] = "";
  const char *name = "";
  for (;;) {
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) {
      if (errno == EINTR) continue;
      break; /* None is left. */
    }
    if (!WIFSTOPPED(status)) {
      if (thread == root) code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int pass_on = 0;
    const int event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP && !is_killed) {
      const int call = changing_call(thread, path, sizeof path);
      if (call >= 0 && ++count == target) {
        is_killed = 1;
        name = CALLS[call].name;
        memcpy(where, path, sizeof where);
        kill(-root, SIGKILL);
        continue; /* It dies where it stands. */
      }
    } else if (event == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP)
      pass_on = WSTOPSIG(status);
    ptrace(PTRACE_CONT, thread, 0, pass_on);
  }
  if (is_killed) {
    printf("killed %ld %s %s\n", count, name, where);
    return 137;
  }
  printf("counted %ld\n", count);
  return code;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Sandbox.h. The structures of Landlock are spelt out here: headers of Debian 12 are older than the
// kernels it runs on. The filter is a list of forbidden calls; what is not in it stays allowed, since LLVM,
// the C library and devices' drivers may call what they like of the rest.
#include "tessera/base/Sandbox.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera {

//===----------------------------------------------------------------------===//
// Landlock: where files may be written
//===----------------------------------------------------------------------===//

namespace {

struct RulesetAttr {
  uint64_t files, network, scoped;
};
struct __attribute__((packed)) PathRule {
  uint64_t allowed;
  int32_t folder;
};

constexpr uint64_t writeContent = 1u << 1, removeFolder = 1u << 4, removeFile = 1u << 5, makeAny = 0x7fu << 6,
                   refer = 1u << 13, truncateContent = 1u << 14;
/// Abstract sockets and signals to processes that are not confined with this one.
constexpr uint64_t scopes = 3;
constexpr uint64_t tcp = 3;

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

} // namespace

// The version of Landlock's interface, 0 when the kernel has none.
static long landlockVersion() {
  long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  return version > 0 ? version : 0;
}

static std::string folderOf(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

static Status limitWriting(const std::vector<std::string> &writable, long version) {
  uint64_t rights = writeContent | removeFolder | removeFile | makeAny;
  rights |= version >= 2 ? refer : 0;
  rights |= version >= 3 ? truncateContent : 0;
  RulesetAttr attr{rights, version >= 4 ? tcp : 0, version >= 6 ? scopes : 0};
  // The kernel refuses a structure that is longer than it knows, unless the rest is zero.
  size_t size = version >= 6 ? sizeof attr : version >= 4 ? 16 : 8;
  int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attr, size, 0));
  if (ruleset < 0)
    return fail(StatusCode::Unsupported, "Landlock: ", strerror(errno));
  auto allow = [&](const std::string &path, uint64_t allowed) {
    int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0)
      return;
    struct stat info{};
    // Only some rights make sense for a file.
    if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode))
      allowed &= writeContent | truncateContent;
    PathRule rule{allowed, fd};
    syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0);
    close(fd);
  };
  for (std::string path : writable) {
    struct stat info{};
    // A file is written beside its place and renamed, so its folder is what matters; a folder that is to be
    // made stands for the one around it.
    while (!(stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) && path != folderOf(path))
      path = folderOf(path);
    allow(path, rights);
  }
  for (const char *device : {"/dev/null", "/dev/full", "/dev/tty"})
    allow(device, rights);
  long done = syscall(SYS_landlock_restrict_self, ruleset, 0);
  int error = errno;
  close(ruleset);
  return done == 0 ? Status() : Status(fail(StatusCode::Unsupported, "Landlock: ", strerror(error)));
}

//===----------------------------------------------------------------------===//
// seccomp: which calls may be made
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
static constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
static constexpr uint32_t architecture = AUDIT_ARCH_RISCV64;
#else
static constexpr uint32_t architecture = 0;
#endif

static std::vector<sock_filter> forbid(const std::vector<uint32_t> &calls) {
  auto say = [](uint16_t code, uint32_t k, uint8_t ifTrue = 0, uint8_t ifFalse = 0) {
    return sock_filter{code, ifTrue, ifFalse, k};
  };
  std::vector<sock_filter> program;
  program.push_back(say(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  program.push_back(say(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0));
  program.push_back(say(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  program.push_back(say(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  // The numbers of x32 would go around the list.
  program.push_back(say(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
  program.push_back(say(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
#endif
  for (uint32_t call : calls) {
    program.push_back(say(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(say(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(say(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return program;
}

// Younger than the headers of Debian 12.
static constexpr uint32_t fchmodat2 = 452;

static Status limitCalls(const Confinement &confinement) {
  std::vector<uint32_t> calls = {
      // The network, and sockets of other programs on this machine.
      SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept4,
      // Other processes.
      SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
      // Ways around the file system's rules, and parts of the kernel that only administrators need.
      SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_move_mount, SYS_fsopen, SYS_open_tree,
      SYS_unshare, SYS_setns, SYS_open_by_handle_at, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
      SYS_io_uring_setup, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module,
      SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday,
      SYS_clock_settime, SYS_acct,
      // What Landlock does not cover.
      SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr};
#ifdef SYS_chmod
  calls.insert(calls.end(), {SYS_chown, SYS_lchown, SYS_accept});
#endif
  // A linker makes executable what it has written; who may write anywhere may do so anywhere.
  if (!confinement.anyFile || !confinement.programs) {
    calls.insert(calls.end(), {SYS_fchmod, SYS_fchmodat, fchmodat2});
#ifdef SYS_chmod
    calls.push_back(SYS_chmod);
#endif
  }
  if (!confinement.programs)
    calls.insert(calls.end(), {SYS_execve, SYS_execveat});
  std::vector<sock_filter> program = forbid(calls);
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  // Threads that are there already are confined too.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    return fail(StatusCode::Unsupported, "seccomp: ", strerror(errno));
  return Status();
}

//===----------------------------------------------------------------------===//

static bool hasSeccomp() {
  uint32_t action = SECCOMP_RET_ERRNO;
  return architecture != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

std::string describeSandbox() {
  std::string text;
  if (long version = landlockVersion())
    text = "Landlock " + std::to_string(version);
  if (hasSeccomp())
    text += text.empty() ? "seccomp" : ", seccomp";
  return text;
}

Status confine(const Confinement &confinement) {
  const char *value = std::getenv("TESSERA_SANDBOX");
  std::string mode = value ? value : "";
  if (mode == "off")
    return Status();
  if (!mode.empty() && mode != "require")
    return fail(StatusCode::InvalidArgument, "TESSERA_SANDBOX: expected 'off' or 'require', but got '", mode,
                "'");
  const bool isRequired = mode == "require";
  auto missing = [&](const Status &status) {
    if (!isRequired || status.ok())
      return Status();
    return Status(fail(StatusCode::Unsupported, "TESSERA_SANDBOX=require: ", status.message(),
                       "; a kernel of 5.13 or later that allows it is needed"));
  };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return missing(fail(StatusCode::Unsupported, "no_new_privs: ", strerror(errno)));
  if (!confinement.anyFile) {
    long version = landlockVersion();
    TESSERA_TRY(missing(version ? limitWriting(confinement.writable, version)
                                : Status(fail(StatusCode::Unsupported, "the kernel has no Landlock"))));
  }
  return missing(hasSeccomp() ? limitCalls(confinement)
                              : Status(fail(StatusCode::Unsupported, "the kernel has no seccomp")));
}

} // namespace tessera

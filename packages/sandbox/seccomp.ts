// The system-call filter of the sandbox, as the bytes that `bwrap --seccomp` reads. It limits a program to one process
// (threads are allowed), so that its memory limit covers everything, and keeps it bound to its parent's death. It forbids
// namespaces, tracing, sockets, kernel memory without a limit, control of scheduling (a program could make itself wait and
// blame the machine), observation of shared host files, and new kernel interfaces. The rest is allowed.

/** clone flags: CLONE_THREAD, and every CLONE_NEW*. */
const CLONE_THREAD = 0x0001_0000;
const CLONE_NEW_ANY = 0x7e02_0000;
/** The first argument of the prctl call that would let it outlive its parent. */
const PR_SET_PDEATHSIG = 1;
/** The one family of `socketpair` that has no end outside and loads no kernel module. */
const AF_UNIX = 1;
/** The first unknown system call: glibc and Python work without newer ones when the kernel reports them as missing. */
const FIRST_YOUNG_CALL = 450;

interface Machine {
  /** AUDIT_ARCH_*: a call of another ABI (32 bits) has other numbers and is killed. */
  readonly arch: number;
  readonly clone: number;
  readonly prctl: number;
  readonly socketpair: number;
  readonly forbidden: readonly number[];
}

/** The same numbers on every machine; none is older than Linux 5.1. */
const COMMON = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  quotactl_fd: 443,
  memfd_secret: 447,
};
/** glibc falls back to `clone`, whose flags a filter can read, if this one is missing. */
const CLONE3 = 435;

const X64 = {
  shmget: 29,
  shmat: 30,
  socket: 41,
  fork: 57,
  vfork: 58,
  semget: 64,
  msgget: 68,
  flock: 73,
  link: 86,
  symlink: 88,
  ptrace: 101,
  syslog: 103,
  mknod: 133,
  personality: 135,
  setpriority: 141,
  sched_setparam: 142,
  sched_setscheduler: 144,
  modify_ldt: 154,
  pivot_root: 155,
  chroot: 161,
  mount: 165,
  umount2: 166,
  quotactl: 179,
  setxattr: 188,
  lsetxattr: 189,
  fsetxattr: 190,
  sched_setaffinity: 203,
  io_setup: 206,
  mq_open: 240,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  ioprio_set: 251,
  inotify_init: 253,
  mknodat: 259,
  linkat: 265,
  symlinkat: 266,
  unshare: 272,
  vmsplice: 278,
  inotify_init1: 294,
  perf_event_open: 298,
  fanotify_init: 300,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  setns: 308,
  process_vm_readv: 310,
  process_vm_writev: 311,
  kcmp: 312,
  sched_setattr: 314,
  memfd_create: 319,
  bpf: 321,
  userfaultfd: 323,
};
const ARM64 = {
  io_setup: 0,
  setxattr: 5,
  lsetxattr: 6,
  fsetxattr: 7,
  inotify_init1: 26,
  ioprio_set: 30,
  flock: 32,
  mknodat: 33,
  symlinkat: 36,
  linkat: 37,
  umount2: 39,
  mount: 40,
  pivot_root: 41,
  chroot: 51,
  quotactl: 60,
  vmsplice: 75,
  personality: 92,
  unshare: 97,
  syslog: 116,
  ptrace: 117,
  sched_setparam: 118,
  sched_setscheduler: 119,
  sched_setaffinity: 122,
  setpriority: 140,
  mq_open: 180,
  msgget: 186,
  semget: 190,
  shmget: 194,
  shmat: 196,
  socket: 198,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  perf_event_open: 241,
  fanotify_init: 262,
  name_to_handle_at: 264,
  open_by_handle_at: 265,
  setns: 268,
  process_vm_readv: 270,
  process_vm_writev: 271,
  kcmp: 272,
  sched_setattr: 274,
  memfd_create: 279,
  bpf: 280,
  userfaultfd: 282,
};

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { arch: 0xc000_003e, clone: 56, prctl: 157, socketpair: 53, forbidden: Object.values({ ...X64, ...COMMON }) },
  arm64: {
    arch: 0xc000_00b7,
    clone: 220,
    prctl: 167,
    socketpair: 199,
    forbidden: Object.values({ ...ARM64, ...COMMON }),
  },
};

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
/** x86-64 calls with this bit are of the x32 ABI. */
const X32_BIT = 0x4000_0000;

/** Undefined for a machine whose system calls are not listed here. */
export function seccompFilter(machine: string = process.arch): Buffer | undefined {
  const known = MACHINES[machine];
  if (!known) return undefined;
  const rows: (readonly [code: number, jumpTrue: number, jumpFalse: number, value: number])[] = [
    [LOAD, 0, 0, 4],
    [JUMP_EQUAL, 1, 0, known.arch],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, KILL],
    [JUMP_AT_LEAST, 1, 0, FIRST_YOUNG_CALL],
    [JUMP_EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, ENOSYS],
    [JUMP_EQUAL, 0, 5, known.clone],
    [LOAD, 0, 0, 16],
    [JUMP_ANY_BIT, 0, 2, CLONE_THREAD],
    [JUMP_ANY_BIT, 1, 0, CLONE_NEW_ANY],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, EPERM],
    [JUMP_EQUAL, 0, 4, known.prctl],
    [LOAD, 0, 0, 16],
    [JUMP_EQUAL, 0, 1, PR_SET_PDEATHSIG],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 4, known.socketpair],
    [LOAD, 0, 0, 16],
    [JUMP_EQUAL, 1, 0, AF_UNIX],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    ...known.forbidden.flatMap((call) => [[JUMP_EQUAL, 0, 1, call] as const, [RETURN, 0, 0, EPERM] as const]),
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(rows.length * 8);
  rows.forEach(([code, jumpTrue, jumpFalse, value], i) => {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(jumpTrue, i * 8 + 2);
    bytes.writeUInt8(jumpFalse, i * 8 + 3);
    bytes.writeUInt32LE(value, i * 8 + 4);
  });
  return bytes;
}

/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Those members of the kernel's structures that are read; the offsets are relocated at load time. */
#ifndef TRACECTL_KERNEL_TYPES_BPF_H
#define TRACECTL_KERNEL_TYPES_BPF_H

#include "bpf/abi.h"
#include "bpf/cpu.bpf.h"

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
	unsigned int f_mode;
	void *private_data;
} __attribute__((preserve_access_index));

struct linux_binprm {
	struct file *file;
} __attribute__((preserve_access_index));

/* A process or thread in all PID namespaces that see it, the initial one first. */
struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct hlist_node {
	struct hlist_node *next;
} __attribute__((preserve_access_index));

struct hlist_head {
	struct hlist_node *first;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct hlist_head tasks[1];
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct proc_inode {
	struct pid *pid;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

struct signal_struct {
	struct {
		int counter;
	} live;
	int group_exit_code;
} __attribute__((preserve_access_index));

enum maple_type { maple_leaf_64 = 1, maple_arange_64 = 3 };

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} __attribute__((preserve_access_index));

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} __attribute__((preserve_access_index));

struct maple_node {
	struct maple_range_64 mr64;
	struct maple_arange_64 ma64;
} __attribute__((preserve_access_index));

struct maple_tree {
	void *ma_root;
} __attribute__((preserve_access_index));

/* mm_struct before Linux 6.18, and since then. */
struct mm_struct___word {
	unsigned long flags;
} __attribute__((preserve_access_index));

struct mm_struct___bitmap {
	struct {
		unsigned long __mm_flags[1];
	} flags;
} __attribute__((preserve_access_index));

/* The page of a process to which return trampolines return. */
struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct uprobes_state {
	struct xol_area *xol_area;
} __attribute__((preserve_access_index));

struct mm_struct {
	struct uprobes_state uprobes_state;
	unsigned long start_stack;
	unsigned long task_size;
	struct maple_tree mm_mt;
} __attribute__((preserve_access_index));

struct userfaultfd_ctx;

struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx;
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
} __attribute__((preserve_access_index));

struct user_id {
	__u32 val;
} __attribute__((preserve_access_index));

struct capabilities {
	__u64 val;
} __attribute__((preserve_access_index));

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct user_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct cred {
	struct user_id uid, gid, suid, sgid, euid, egid;
	struct capabilities cap_permitted;
	struct user_namespace *user_ns;
} __attribute__((preserve_access_index));

struct kernfs_node {
	const char *name;
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} __attribute__((preserve_access_index));

struct cgroup_root {
	int hierarchy_id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
} __attribute__((preserve_access_index));

/* What a thread's hit of a uprobe needs. */
struct arch_uprobe {
	__u8 insn[16];
} __attribute__((preserve_access_index));

struct uprobe_task {
	struct arch_uprobe *auprobe;	/* of the probe whose programs run */
} __attribute__((preserve_access_index));

struct bpf_local_storage;

struct thread_info {
	__u32 status;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_info thread_info;
	struct bpf_local_storage *bpf_storage;	/* null if no program has stored anything with it */
	int pid;
	int tgid;
	char comm[TC_COMM_LEN];
	int exit_code;
	unsigned long nvcsw, nivcsw;	/* how often it has left a CPU: because it waits, and for others */
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct hlist_node pid_links[1];
	struct signal_struct *signal;
	struct mm_struct *mm;
	const struct cred *real_cred;
	__u64 start_boottime;
	__u64 self_exec_id;
	struct uprobe_task *utask;
	struct thread_struct thread;
} __attribute__((preserve_access_index));

/* The place of the functions' frames: bpf/own_frames.bpf.h. */
enum priv_stack_mode { PRIV_STACK_UNKNOWN };

struct bpf_subprog_info {
	enum priv_stack_mode priv_stack_mode;
} __attribute__((preserve_access_index));

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
} __attribute__((preserve_access_index));

#endif

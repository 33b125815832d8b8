/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Who hit the probe, is it for them, and what are the arguments. */
#ifndef TRACECTL_MATCH_BPF_H
#define TRACECTL_MATCH_BPF_H

struct thread {
	__u32 pid;
	__u32 tid;
};

/* One hit of a site, as far as its hooks have asked. */
struct hit {
	bpf_user_pt_regs_t *ctx;
	struct thread thread;	/* once a hook has asked; a tid of 0: not yet */
	__u64 epoch;
	__u32 slot;
	__u32 next;
	bool taken;	/* by a hook of the group */
	__u32 followed;	/* the call is, by a hook */
	bool has_retval;
	__u64 sp;	/* where the return address is, of a call */
	__u64 entry;	/* where the function begins that is called */
	__u64 jumps_to;	/* where the function goes on in which a call ends; 0: not known, or nowhere */
};

/* Ids as the engine sees them: in a container the kernel's own are the host's. */
static __always_inline void learn_ids(struct thread *thread, struct task_struct *task)
{
	struct bpf_pidns_info ids = {};

	if (in_own_pid_namespace) {
		/* Zeroed where it fails: the thread is not seen from there. */
		bpf_get_ns_current_pid_tgid(pid_namespace_device, pid_namespace_inode, &ids,
					    sizeof(ids));
		thread->pid = ids.tgid;
		thread->tid = ids.pid;
	} else {
		thread->pid = task->tgid;
		thread->tid = task->pid;
	}
}

/* Each call of a helper costs as much as the rest of a count: only for hooks that need it. */
static __always_inline const struct thread *thread_of(struct hit *hit)
{
	if (!hit->thread.tid)
		learn_ids(&hit->thread, bpf_get_current_task_btf());
	return &hit->thread;
}

static __always_inline bool has_set(const struct tc_sets *sets, __u32 target)
{
	__u32 word = target / 64;

	if (!sets || word >= TC_MEMBER_WORDS)
		return false;
	return sets->words[word] >> (target % 64) & 1;
}

static __always_inline bool is_member(__u32 pid, __u32 target)
{
	struct tc_member *member = bpf_map_lookup_elem(&members, &pid);

	return member && has_set(&member->of, target);
}

static __always_inline bool is_in_cgroup_of(__u32 target)
{
	__u64 id = bpf_get_current_cgroup_id();

	return has_set(bpf_map_lookup_elem(&cgroups, &id), target);
}

static __always_inline bool is_of_target(const struct tc_hook *hook, struct hit *hit)
{
	if (hook->tgid)
		return hook->tgid == thread_of(hit)->pid;
	if (hook->flags & TC_BY_CGROUP)
		return is_in_cgroup_of(hook->set_target - 1);
	if (hook->set_target)
		return is_member(thread_of(hit)->pid, hook->set_target - 1);
	return true;
}

static __always_inline bool is_for(const struct tc_hook *hook, struct hit *hit)
{
	return is_of_target(hook, hit) && !is_hidden(hook);
}

/* The same, for who is about to act on the hit: what is left out for want of a proof is counted. */
static __always_inline bool takes(const struct tc_hook *hook, struct hit *hit)
{
	return is_of_target(hook, hit) && !is_hit_hidden(hook);
}

struct registers {
	__u64 value[TC_NO_REGISTER];
};

/* The context may only be read at constant offsets; the copy can be indexed. */
static __always_inline void copy_registers(struct registers *to, const struct pt_regs *ctx)
{
	to->value[0] = ctx->rax;
	to->value[1] = ctx->rcx;
	to->value[2] = ctx->rdx;
	to->value[3] = ctx->rbx;
	to->value[4] = ctx->rsp;
	to->value[5] = ctx->rbp;
	to->value[6] = ctx->rsi;
	to->value[7] = ctx->rdi;
	to->value[8] = ctx->r8;
	to->value[9] = ctx->r9;
	to->value[10] = ctx->r10;
	to->value[11] = ctx->r11;
	to->value[12] = ctx->r12;
	to->value[13] = ctx->r13;
	to->value[14] = ctx->r14;
	to->value[15] = ctx->r15;
	to->value[TC_RIP] = ctx->rip;
}

static __always_inline __u64 register_value(const struct registers *registers, __u8 number)
{
	return number < TC_NO_REGISTER ? registers->value[number] : 0;
}

static __always_inline bool read_memory(const struct tc_arg *arg, __u64 address, __u64 *value)
{
	switch (arg->size) {
	case 1: return !bpf_probe_read_user(value, 1, (void *)address);
	case 2: return !bpf_probe_read_user(value, 2, (void *)address);
	case 4: return !bpf_probe_read_user(value, 4, (void *)address);
	case 8: return !bpf_probe_read_user(value, 8, (void *)address);
	}
	return false;
}

/* Sets *value, which must be 0 before, and says whether it could be read. */
static __always_inline bool read_arg(const struct tc_arg *arg, const struct registers *registers,
				     __u64 *value)
{
	__u64 base = register_value(registers, arg->base);
	__u64 index;

	switch (arg->place) {
	case TC_ARG_CONSTANT:
		*value = arg->offset;
		return true;
	case TC_ARG_REGISTER:
		*value = base >> (arg->value_shift & 63);
		return true;
	case TC_ARG_MEMORY:
		index = register_value(registers, arg->index);
		return read_memory(arg, base + (index << (arg->scale_shift & 3)) + arg->offset, value);
	}
	return false;
}

#endif

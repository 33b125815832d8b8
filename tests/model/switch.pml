/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switch between two generations, as daemon/switching/staging.cpp makes it and bpf/gate.bpf.h sees
 * it. tests/model/README.md says what is modelled, what is left out, and what the results mean.
 *
 * One slot; THREADS threads that hit it again and again, with each step possibly between any two of the
 * writer's; a writer that makes the commits of the scenario chosen with -D:
 *
 *   REPLACE   one spec replaces another, twice, so that numbers of hooks are reused
 *   SHRINK    one link replaces another that serves the slot
 *   REMOVE    the site is disarmed, and the slot is reused for another site
 *   FAIL      a commit is staged and armed, and undone before the switch
 *
 * -DWITHOUT_... removes one step of the protocol: then spin must find a trace.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef HITS
#define HITS 3		/* of each thread */
#endif

#define NONE 0		/* no hook: the generation is disabled */
#define LINKS 3

byte epoch = 0;

/* The slot. A program reads a generation field by field: two fields that belong together. */
byte gen_hook[2] = NONE;
byte gen_rest[2] = NONE;	/* the further hooks and counters that go with gen_hook */
byte gen_link[2] = 0;
bool gen_handover[2] = false;

/* Hooks 1 and 2, each with its own counters. */
bool live[3] = false;
byte counted[3] = 0;
byte settled = 0;		/* counts of retired hooks: read as final */

/* Links 0 and 1 are at the site that the threads hit; 1 is the newer one, at the head of the list. */
bool armed[LINKS] = false;
bool removed = false;		/* the removal of that site has been answered */

/* A grace period waits for these: programs, and whole hits when a link is closed. */
bool in_program[THREADS] = false;
bool in_hit[THREADS] = false;

byte token[THREADS] = 255;	/* link that has taken the hit; 255: none */
byte ended = 0;

/* Returns when every program, or hit, that runs at the call has ended; later ones may run. */
#define WAIT_FOR(running)						\
	i = 0;								\
	do								\
	:: i < THREADS ->						\
		if							\
		:: running[i] -> !running[i]				\
		:: else							\
		fi;							\
		i++							\
	:: else -> break						\
	od

/* ---- a hit ---- */

#define ACT(g)								\
	hook = gen_hook[g];						\
	rest = gen_rest[g];						\
	assert(hook == rest);		/* not half written */		\
	assert(live[hook]);		/* not freed */			\
	atomic {							\
		assert(!removed);	/* gone is gone */		\
		counted[hook]++;					\
		taken++							\
	}

/* bpf/tracer.bpf.c, on_site() */
inline run_program(l) {
	in_program[me] = true;
	e = epoch;
	g = e % 2;
	if
	:: gen_hook[g] == NONE
	:: else ->
		atomic { served_by = gen_link[g]; handover = gen_handover[g] };	/* one word */
		if
		:: !handover && served_by == l ->
			ACT(g)
		:: !handover && served_by != l
		:: handover && served_by == l ->
#ifndef WITHOUT_TOKEN
			token[me] = l;
#endif
			ACT(g)
		:: handover && served_by != l ->
			if
			:: token[me] == served_by -> token[me] = 255
			:: else ->
#ifndef WITHOUT_OLDER
				ACT(g)
#else
				skip
#endif
			fi
		fi
	fi;
	in_program[me] = false
}

proctype thread(byte me) {
	byte e, g, hook, rest, served_by, n = 0, taken;
	bool handover, seen;
	do
	:: n < HITS ->
		n++;
		taken = 0;
		in_hit[me] = true;
		/* The list is walked from its head: later additions are not seen. */
		if
		:: armed[1] -> run_program(1)
		:: else
		fi;
		if
		:: armed[0] -> run_program(0)
		:: else
		fi;
#ifdef ALWAYS_COUNTED
		assert(taken == 1);
#else
		assert(taken <= 1);
#endif
		in_hit[me] = false
	:: else -> break
	od;
	ended++
}

/* ---- the writer ---- */

/* Field by field; the waits protect programs that read in between. */
inline write_generation(g, hook, l, handed) {
	gen_hook[g] = hook;
	gen_rest[g] = hook;
	atomic { gen_link[g] = l; gen_handover[g] = handed }
}

#define ACTIVE (epoch % 2)
#define STAGING (1 - epoch % 2)

inline wait_after_switch() {
#ifndef WITHOUT_WAIT_AFTER_SWITCH
	WAIT_FOR(in_program)
#else
	skip
#endif
}

inline close_link(l) {
	armed[l] = false;
#ifndef WITHOUT_WAIT_OF_CLOSING
	WAIT_FOR(in_hit)
#else
	skip
#endif
}

inline copy_back() {
#ifndef WITHOUT_COPY_BACK
	write_generation(STAGING, gen_hook[ACTIVE], gen_link[ACTIVE], false)
#else
	skip
#endif
}

inline take_hook(h) {
	assert(!live[h]);
	counted[h] = 0;
	live[h] = true
}

/* The old counters are read as final; the next user of the number begins at zero. */
inline retire_hook(h) {
	settled = settled + counted[h];
	live[h] = false
}

/* One slot, one spec replaced by another: as in each commit for each slot that it changes. */
inline replace_by(new, old) {
	take_hook(new);
#ifdef SWITCH_BEFORE_STAGING
	epoch++;
	write_generation(ACTIVE, new, 0, false);
#else
	write_generation(STAGING, new, 0, false);
	epoch++;
#endif
	wait_after_switch();
	retire_hook(old);
	copy_back()
}

/* A commit of another session, which does not touch this slot. */
inline commit_elsewhere() {
	epoch++;
	wait_after_switch()
}

proctype writer() {
	byte i;
#ifdef REPLACE
	replace_by(2, 1);
	commit_elsewhere();
	replace_by(1, 2);
#endif
#ifdef SHRINK
	write_generation(STAGING, 1, 1, true);
	armed[1] = true;
	epoch++;
#ifdef WAIT_FOR_PROGRAMS_ONLY
	WAIT_FOR(in_program);
#else
	WAIT_FOR(in_hit);
#endif
	close_link(0);
	gen_handover[ACTIVE] = false;
	copy_back();
	commit_elsewhere();
#endif
#ifdef REMOVE
	write_generation(STAGING, NONE, 0, false);
	epoch++;
	wait_after_switch();
	close_link(0);
	retire_hook(1);
	copy_back();
	removed = true;
	/* The slot's number is free: it is reused at once for a site of another link. */
	take_hook(2);
	write_generation(STAGING, 2, 2, false);
	armed[2] = true;
	epoch++;
	wait_after_switch();
	copy_back();
#endif
#ifdef FAIL
	take_hook(2);
	write_generation(STAGING, 2, 1, true);
	armed[1] = true;
	close_link(1);
	copy_back();
	live[2] = false;
	commit_elsewhere();
	replace_by(2, 1);
#endif
	(ended == THREADS);
#ifdef ALWAYS_COUNTED
	/* The old counts and the new ones add up exactly to the calls made. */
	i = 1;
	do
	:: i < 3 ->
		if
		:: live[i] -> settled = settled + counted[i]
		:: else
		fi;
		i++
	:: else -> break
	od;
	assert(settled == THREADS * HITS);
#endif
}

init {
	byte n = 0;
	atomic {
		live[1] = true;
		gen_hook[0] = 1; gen_rest[0] = 1;
		gen_hook[1] = 1; gen_rest[1] = 1;
		armed[0] = true;
		do
		:: n < THREADS -> run thread(n); n++
		:: else -> break
		od;
		run writer()
	}
}

/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probes by which Erlang programs are profiled, with the arguments that the virtual machine gives
 * them: names as people write them, as in message-queued, have a hyphen for each double underscore.
 */
provider erlang {
  probe message__queued(char *receiver, uint32_t size, uint32_t queue_len,
                        int token_label, int token_previous, int token_current,
                        uint64_t ts);
  probe message__send(char *sender, char *receiver, uint32_t size,
                      int token_label, int token_previous, int token_current,
                      uint64_t ts);

  probe bif__entry(char *p, char *mfa, uint64_t ts);
  probe global__function__entry(char *p, char *mfa, int depth, uint64_t ts);
  probe local__function__entry(char *p, char *mfa, int depth, uint64_t ts);
  probe nif__entry(char *p, char *mfa, uint64_t ts);
  probe function__return(char *p, char *mfa, int depth, uint64_t ts);
  probe bif__return(char *p, char *mfa, uint64_t ts);
  probe nif__return(char *p, char *mfa, uint64_t ts);

  probe process__spawn(char *p, char *p2, char *mfa, uint64_t ts);
  probe process__exit(char *p, char *reason, uint64_t ts);

  probe process__link(char *p, char *p2, uint64_t ts);
  probe port__link(char *p, char *port, uint64_t ts);
  probe process__unlink(char *p, char *p2, uint64_t ts);
  probe port__unlink(char *p, char *port, uint64_t ts);
  probe process__getting_linked(char *p, char *p2, uint64_t ts);
  probe port__getting_linked(char *p, char *port, uint64_t ts);
  probe process__getting_unlinked(char *p, char *p2, uint64_t ts);
  probe port__getting_unlinked(char *p, char *port, uint64_t ts);

  probe process__registered(char *p, char *name, uint64_t ts);
  probe port__registered(char *port, char *name, uint64_t ts);
  probe process__unregistered(char *p, char *name, uint64_t ts);
  probe port__unregistered(char *port, char *name, uint64_t ts);

  probe process__scheduled(char *p, char *mfa, uint64_t ts);
  probe process__unscheduled(char *p, char *mfa, uint64_t ts);

  probe gc_major__start(char *p, int need, uint64_t ts);
  probe gc_minor__start(char *p, int need, uint64_t ts);
  probe gc_major__end(char *p, int reclaimed, uint64_t ts);
  probe gc_minor__end(char *p, int reclaimed, uint64_t ts);

  probe process__active(char *p, char *mfa, uint64_t ts);
  probe process__inactive(char *p, char *mfa, uint64_t ts);
  probe port__active(char *port, char *mfa, uint64_t ts);
  probe port__inactive(char *port, char *mfa, uint64_t ts);
  probe scheduler__active(char *s, int active, uint64_t ts);
  probe scheduler__inactive(char *s, int active, uint64_t ts);
};

/* The functions behind the operations of a plan: `operand` holds the fixed operands, then `extra` counted ones. */
#ifndef DROPCLOTH_OPERATIONS_H
#define DROPCLOTH_OPERATIONS_H

typedef void operation_function(char **operand, int extra);

/* lock.c */
operation_function op_lock;
/* cgroup.c */
operation_function op_cgroup;
/* namespaces.c */
operation_function op_unshare, op_hostname, op_lo;
/* listen.c */
operation_function op_listen;
/* outer.c */
operation_function op_init;
/* join.c */
operation_function op_join;
/* identity.c */
operation_function op_map, op_cmd_map, op_caps;
/* mounts.c */
operation_function op_private, op_tree, op_fs, op_attr, op_setattr, op_attach, op_offer, op_bind_from, op_mask;
operation_function op_umount, op_pivot;
/* overlay.c */
operation_function op_overlay;
/* places.c */
operation_function op_mkdir, op_file, op_symlink;
/* confine.c */
operation_function op_confine;
/* limits.c */
operation_function op_rlimit;
/* init.c */
operation_function op_control;
/* command.c */
operation_function op_setenv, op_chdir, op_exec;

#endif

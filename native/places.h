/* Paths of a plan: they are real, so a link on the way means that somebody changed it after the plan was made. */
#ifndef DROPCLOTH_PLACES_H
#define DROPCLOTH_PLACES_H

/* An O_PATH descriptor, reached through no symbolic link; FLAGS may be O_DIRECTORY. Fails the operation otherwise. */
int open_place(const char *path, int flags);
/* The same, but -1 when nothing is there any more, a link is in the way, or nobody inside could get there either. */
int find_place(const char *path);
/* The same for the directory that holds an absolute path's last name, which NAME then points to. */
int open_parent(const char *path, const char **name);
/* Writes a short text to a file that is there; one write, as the id maps of /proc want. */
void write_file(const char *path, const char *text);
/* The same; what was written, or -errno. */
long try_write_file(const char *path, const char *text);

#endif

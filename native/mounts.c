#include "mounts.h"

#include "operations.h"
#include "places.h"
#include "report.h"
#include "syscall.h"

enum { SLOTS = 4096 };

/* Descriptor + 1 of each detached mount, 0 when the slot is empty. */
static int slots[SLOTS];

static int *slot_at(const char *slot) { return slots + must_number(slot, SLOTS - 1); }

static int slot_mount(const char *slot) {
	int mount = *slot_at(slot) - 1;
	if (mount < 0) fail(-EINVAL, "nothing is in this slot");
	return mount;
}

void slot_fill(const char *slot, int mount) {
	if (*slot_at(slot)) fail(-EINVAL, "this slot is in use");
	*slot_at(slot) = mount + 1;
}

uint64_t mount_attributes(const char *list) {
	return (list_has(list, "ro") ? MOUNT_ATTR_RDONLY : 0) | (list_has(list, "nosuid") ? MOUNT_ATTR_NOSUID : 0) |
		   (list_has(list, "nodev") ? MOUNT_ATTR_NODEV : 0) | (list_has(list, "noexec") ? MOUNT_ATTR_NOEXEC : 0);
}

static bool is_recursive(const char *word) {
	if (!text_equal(word, "rec") && !text_equal(word, "one")) fail(-EINVAL, "must be one or rec");
	return word[0] == 'r';
}

void must_configure(long result, int fs, const char *text) {
	if (result >= 0) return;
	/* One message for each read, each beginning with its level and a space; ENODATA when there are no more. */
	size_t length = 0;
	while (length + 2 < sizeof kernel_text) {
		long count = sys_read(fs, kernel_text + length, sizeof kernel_text - 1 - length);
		if (count <= 0) break;
		length += (size_t)count;
		if (kernel_text[length - 1] == '\n') length--;
		kernel_text[length++] = ' ';
	}
	if (length) length--;
	kernel_text[length] = 0;
	fail(result, text);
}

int make_mount(int fs, uint64_t attributes) {
	must_configure(sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0), fs, "create");
	int mount = (int)must(sys_fsmount(fs, attributes), "fsmount");
	sys_close(fs);
	return mount;
}

/* Options of the file systems made here: key or key=value, between commas; none of their values holds a comma. */
static void configure(int fs, char *options) {
	while (*options) {
		char *key = options, *value = NULL;
		for (; *options && *options != ','; options++)
			if (*options == '=' && !value) *options = 0, value = options + 1;
		if (*options) *options++ = 0;
		must_configure(sys_fsconfig(fs, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key, value, 0), fs, key);
	}
}

static void set_attributes(int mount, struct mount_attr attributes, bool recursive, const char *text) {
	unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
	must(sys_mount_setattr(mount, "", flags, &attributes), text);
}

static int clone_tree(const char *path, bool recursive) {
	int fd = open_place(path, 0);
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
	int mount = (int)must(sys_open_tree(fd, "", flags), path);
	sys_close(fd);
	return mount;
}

static void attach_at(int mount, int place, const char *path) {
	must(sys_move_mount(mount, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH), path);
	sys_close(place);
	sys_close(mount);
}

static void attach(int mount, const char *path) { attach_at(mount, open_place(path, 0), path); }

void op_private(char **operand, int extra) {
	(void)operand, (void)extra;
	int root = open_place("/", O_DIRECTORY);
	set_attributes(root, (struct mount_attr){.propagation = MS_PRIVATE}, true, "/");
	sys_close(root);
}

void op_tree(char **operand, int extra) {
	(void)extra;
	slot_fill(operand[0], clone_tree(operand[1], is_recursive(operand[2])));
}

void op_fs(char **operand, int extra) {
	(void)extra;
	int fs = (int)must(sys_fsopen(operand[1]), operand[1]);
	configure(fs, operand[2]);
	slot_fill(operand[0], make_mount(fs, mount_attributes(operand[3])));
}

void op_attr(char **operand, int extra) {
	(void)extra;
	struct mount_attr attributes = {.attr_set = mount_attributes(operand[1])};
	set_attributes(slot_mount(operand[0]), attributes, is_recursive(operand[2]), operand[1]);
}

void op_setattr(char **operand, int extra) {
	(void)extra;
	struct mount_attr attributes = {.attr_set = mount_attributes(operand[1])};
	int mount = open_place(operand[0], 0);
	set_attributes(mount, attributes, is_recursive(operand[2]), operand[0]);
	sys_close(mount);
}

void op_attach(char **operand, int extra) {
	(void)extra;
	attach(slot_mount(operand[0]), operand[1]);
	*slot_at(operand[0]) = 0;
}

/* What may be missing: the agent may have taken its place away, or put something of another kind there. */
void op_offer(char **operand, int extra) {
	(void)extra;
	struct stat offered, there;
	int mount = slot_mount(operand[0]), place = find_place(operand[1]);
	*slot_at(operand[0]) = 0;
	if (place >= 0) {
		must(sys_fstat(mount, &offered), operand[1]);
		must(sys_fstat(place, &there), operand[1]);
		bool directories = (offered.st_mode & FILE_TYPE_MASK) == DIRECTORY_TYPE;
		if (directories == ((there.st_mode & FILE_TYPE_MASK) == DIRECTORY_TYPE)) {
			attach_at(mount, place, operand[1]);
			return;
		}
		sys_close(place);
	}
	sys_close(mount);
}

void op_bind_from(char **operand, int extra) {
	(void)extra;
	bool recursive = is_recursive(operand[3]);
	int mount = clone_tree(operand[0], recursive);
	struct mount_attr attributes = {.attr_set = mount_attributes(operand[2])};
	set_attributes(mount, attributes, recursive, operand[0]);
	attach(mount, operand[1]);
}

/* False when the place was removed or replaced since it was found: nothing can be mounted there any more. */
static bool mask_found(int place, char **operand) {
	struct stat facts;
	must(sys_fstat(place, &facts), operand[2]);
	int mount = clone_tree(operand[(facts.st_mode & FILE_TYPE_MASK) == DIRECTORY_TYPE ? 0 : 1], false);
	struct mount_attr attributes = {.attr_set = mount_attributes("ro,nosuid,nodev,noexec")};
	set_attributes(mount, attributes, false, operand[2]);
	long result = sys_move_mount(mount, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	sys_close(place);
	sys_close(mount);
	if (result != -ENOENT) must(result, operand[2]);
	return result != -ENOENT;
}

/*
 * A name that is gone, or behind a link that the agent made, hides nothing of the host that could still be reached by
 * it. What is there now decides what is mounted over it: the agent may have put a file in a directory's place.
 */
void op_mask(char **operand, int extra) {
	(void)extra;
	for (int place; (place = find_place(operand[2])) >= 0;)
		if (mask_found(place, operand)) return;
}

void op_umount(char **operand, int extra) {
	(void)extra;
	const char *name;
	int parent = open_parent(operand[0], &name);
	must(sys_fchdir(parent), operand[0]);
	must(sys_umount2(name, UNMOUNT_DETACH | UNMOUNT_NOFOLLOW), operand[0]);
	must(sys_chdir("/"), "/");
	sys_close(parent);
}

/* Both names are ".": the old root ends up on top of the new one and is taken off again, pivot_root(2). */
void op_pivot(char **operand, int extra) {
	(void)extra;
	int root = open_place(operand[0], O_DIRECTORY);
	must(sys_fchdir(root), operand[0]);
	sys_close(root);
	must(sys_pivot_root(".", "."), operand[0]);
	must(sys_umount2(".", UNMOUNT_DETACH), "old root");
	must(sys_chdir("/"), "/");
}

/*
 * Overlays over layers that are named by descriptor. Paths never pass through an option string: a string holds 255
 * bytes, and upperdir= takes backslashes for escapes where lowerdir+= does not.
 */
#include "overlay.h"

#include "mounts.h"
#include "operations.h"
#include "places.h"
#include "report.h"
#include "syscall.h"

/* OVL_MAX_STACK of the kernel, and the length of an option's value. */
enum { MOST_LAYERS = 500, OPTION_BYTES = 255 };

/*
 * BY_DESCRIPTOR: Linux 6.13. BY_STRING: lowerdir+ takes one name, here /proc/self/fd/N, Linux 6.5. BY_LIST: one
 * lowerdir= option for all, whose names are looked up when the file system is created.
 */
enum form { UNKNOWN, BY_DESCRIPTOR, BY_STRING, BY_LIST };
static const char *const form_names[] = {"none", "fd", "str", "legacy"};
static enum form chosen_form;

/* What the kernel takes: a file system without descriptors says EINVAL, one of the old mount interface EOPNOTSUPP. */
static enum form probe_form(int lower) {
	int fs = (int)must(sys_fsopen("overlay"), "overlay");
	long result = sys_fsconfig(fs, FSCONFIG_SET_FD, "lowerdir+", NULL, lower);
	sys_close(fs);
	return result == -EOPNOTSUPP ? BY_LIST : result == -EINVAL ? BY_STRING : BY_DESCRIPTOR;
}

static enum form choose_form(const char *flags, int lower) {
	if (list_has(flags, "legacy")) chosen_form = BY_LIST;
	else if (list_has(flags, "str")) chosen_form = BY_STRING;
	else if (chosen_form == UNKNOWN) chosen_form = probe_form(lower);
	return chosen_form;
}

void report_layers(void) {
	struct line line;
	start_line(&line, "layers ");
	add_text(&line, form_names[chosen_form]);
	report_line(&line);
}

static void set_layer(int fs, enum form form, const char *key, int layer, const char *path) {
	struct line name;
	start_line(&name, "/proc/self/fd/");
	add_number(&name, layer);
	long result = form == BY_DESCRIPTOR ? sys_fsconfig(fs, FSCONFIG_SET_FD, key, NULL, layer)
										: sys_fsconfig(fs, FSCONFIG_SET_STRING, key, name.bytes, 0);
	must_configure(result, fs, path);
}

/* All lower layers in one option: the bare numbers, resolved in /proc/self/fd, leave room for about 60 of them. */
static void set_lower_list(int fs, const int *layers, int count) {
	struct line list;
	start_line(&list, "");
	for (int i = 0; i < count; i++) {
		if (i) add_text(&list, ":");
		add_number(&list, layers[i]);
	}
	if (list.length > OPTION_BYTES) fail(-E2BIG, "too many layers for this kernel");
	must(sys_chdir("/proc/self/fd"), "/proc/self/fd");
	must_configure(sys_fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", list.bytes, 0), fs, list.bytes);
}

/* operand: SLOT FLAGS UPPER WORK ATTRIBUTES N, then the lower layers, the topmost first. */
void op_overlay(char **operand, int extra) {
	const char *slot = operand[0], *flags = operand[1], *upper = operand[2], *work = operand[3];
	char **lower = operand + 6;
	int layers[MOST_LAYERS + 2], open = 0;
	if (extra < 1 || extra > MOST_LAYERS) fail(-E2BIG, "an overlay has 1 to 500 lower layers");
	for (int i = 0; i < extra; i++) layers[open++] = open_place(lower[i], O_DIRECTORY);
	if (*upper) {
		layers[open++] = open_place(upper, O_DIRECTORY);
		layers[open++] = open_place(work, O_DIRECTORY);
	}

	enum form form = choose_form(flags, layers[0]);
	int fs = (int)must(sys_fsopen("overlay"), "overlay");
	if (form == BY_LIST) set_lower_list(fs, layers, extra);
	else
		for (int i = 0; i < extra; i++) set_layer(fs, form, "lowerdir+", layers[i], lower[i]);
	if (*upper) {
		set_layer(fs, form, "upperdir", layers[extra], upper);
		set_layer(fs, form, "workdir", layers[extra + 1], work);
	}
	static const char *const options[] = {"userxattr", "volatile"};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (list_has(flags, options[i]))
			must_configure(sys_fsconfig(fs, FSCONFIG_SET_FLAG, options[i], NULL, 0), fs, options[i]);
	slot_fill(slot, make_mount(fs, mount_attributes(operand[4])));

	/* Only now: BY_LIST looks its names up when the file system is created. */
	must(sys_chdir("/"), "/");
	while (open) sys_close(layers[--open]);
}

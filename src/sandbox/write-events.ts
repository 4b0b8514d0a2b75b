/**
 * Whether this kernel (a release as in `uname -r`) tells a watch on an upper directory of writes that go through the overlay:
 * before 6.5, overlayfs opened what lies beneath without events, and only names were told of.
 */
export function tellsOfWrites(release: string): boolean {
	const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
	return major > 6 || (major === 6 && minor >= 5);
}

/** Paths below a root: parts joined by '/', no leading slash; '' is the root itself. */
export function joinPath(parent: string, name: string): string {
	return parent === '' ? name : `${parent}/${name}`;
}

/** The path of the directory that holds this one; '' for a name in the root. */
export function parentPath(path: string): string {
	const slash = path.lastIndexOf('/');
	return slash < 0 ? '' : path.slice(0, slash);
}

/** The last part of a path. */
export function baseName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

/** Whether `path` is `ancestor` or lies below it; both absolute, or both below the same root. */
export function isWithin(path: string, ancestor: string): boolean {
	if (ancestor === '' || ancestor === '/' || path === ancestor) return true;
	return path.length > ancestor.length && path.startsWith(ancestor) && path[ancestor.length] === '/';
}

/** Every directory above a path, the root first: 'a/b/c' gives '', 'a', 'a/b'. */
export function ancestorPaths(path: string): string[] {
	if (path === '') return [];
	const parts = path.split('/');
	return parts.map((_, index) => parts.slice(0, index).join('/'));
}

/** How many parts a path has; 0 for the root. */
export function pathDepth(path: string): number {
	return path === '' ? 0 : path.split('/').length;
}

import { decodeName, encodeName, isUtf8Name } from '../base/bytes.ts';
import { PosixError } from '../base/posix-error.ts';

/** A name as a column holds it: TEXT when its bytes are valid UTF-8, else BLOB. */
export type SqlName = string | Buffer;

/** A name, path or symlink target as a parameter. */
export function toSqlName(name: string): SqlName {
	return isUtf8Name(name) ? name : encodeName(name);
}

/** A name, path or symlink target from a column. */
export function fromSqlName(value: SqlName): string {
	return typeof value === 'string' ? value : decodeName(value);
}

/** A name that may stand in a directory, as a parameter. Throws PosixError EINVAL for one that no kernel would take. */
export function toEntryName(name: string): SqlName {
	if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
		throw new PosixError('EINVAL', 'name', JSON.stringify(name));
	}
	return toSqlName(name);
}

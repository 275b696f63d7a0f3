/**
 * Accessors for values of unknown shape. Stores, queues and handlers may hold objects as the server sent them,
 * entries of an informer, or any other value of a user.
 */

export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns whether it is an informer's entry, by its mark: a custom resource may have fields `key` and `name` too.
 * Readers must take an entry's own fields, not its metadata: those need decoding and throw once it has expired.
 */
export function isEntry(object: Fields): boolean {
  return object['finalStateUnknown'] === false && typeof object['key'] === 'string';
}

/** Returns the metadata of an object, or an entry itself, which has the same fields; otherwise undefined. */
export function metadataAtHand(object: unknown): Fields | undefined {
  if (!isRecord(object)) return undefined;
  const metadata = isEntry(object) ? object : object['metadata'];
  return isRecord(metadata) ? metadata : undefined;
}

/** Returns the resourceVersion; undefined for a value without metadata or without a resourceVersion. */
export function resourceVersionOf(object: unknown): string | undefined {
  const version = metadataAtHand(object)?.['resourceVersion'];
  return typeof version === 'string' && version !== '' ? version : undefined;
}

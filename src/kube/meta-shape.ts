/**
 * The first steps into a value of unknown shape: what stores, queues and handlers hold may be an object as the
 * server sent it, an informer's entry, or anything else that a user put in.
 */

export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/**
 * An informer's entry. By its mark: a custom resource may have fields `key` and `name` of its own. What an
 * entry has at hand must not be read from its metadata: they would be decoded, and an expired one refuses.
 */
export function isEntry(object: Fields): boolean {
  return object['finalStateUnknown'] === false && typeof object['key'] === 'string';
}

/** Metadata of an object, or an entry in their place for what it has at hand; undefined without. */
export function metadataAtHand(object: unknown): Fields | undefined {
  if (!isRecord(object)) return undefined;
  const metadata = isEntry(object) ? object : object['metadata'];
  return isRecord(metadata) ? metadata : undefined;
}

/** Undefined for what has no metadata, or no resourceVersion in them. */
export function resourceVersionOf(object: unknown): string | undefined {
  const version = metadataAtHand(object)?.['resourceVersion'];
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/**
 * Accessors for values of unknown shape. Stores, queues and handlers may hold objects as the server sent them,
 * entries of an informer, or any other value of a user.
 */

export type Fields = Readonly<Record<string, unknown>>;

/** Metadata of an object. */
export interface KubeMetadata {
  /** Name of the object, unique for the resource within the namespace. */
  readonly name?: string;
  /** Absent for a cluster-scoped object. */
  readonly namespace?: string;
  /** Identifier from the server. An object that is created again under the name receives another uid. */
  readonly uid?: string;
  /** Version of this state: see `compareResourceVersions`. */
  readonly resourceVersion?: string;
  /** Labels by name; selectors read them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations by name; no selector reads them. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The type of the metadata of `T`. */
export type MetadataOf<T> = T extends { readonly metadata?: infer M } ? NonNullable<M> : KubeMetadata;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/**
 * The marks of kubeloom's own values. JSON cannot contain a symbol, so no object of a server carries a mark. The symbols are
 * registered: two copies of the package in a program recognise each other's values.
 */
export const Mark: Readonly<Record<'Entry' | 'Tombstone' | 'ExplicitKey', symbol>> = {
  /** An entry of an informer. */
  Entry: Symbol.for('kubeloom.Entry'),
  /** A tombstone of the client-go layers, or the DeletedFinalStateUnknown of an informer. */
  Tombstone: Symbol.for('kubeloom.Tombstone'),
  /** A key in place of its object. */
  ExplicitKey: Symbol.for('kubeloom.ExplicitKey'),
};

/** Sets the mark of a class. (`isolatedDeclarations` allows no member with a computed name.) */
export function mark(prototype: object, as: symbol): void {
  Object.defineProperty(prototype, as, { value: true });
}

function hasMark(value: object, wanted: symbol): boolean {
  return Reflect.get(value, wanted) === true;
}

/**
 * Returns whether it is an informer's entry. Readers must take an entry's own fields, not the metadata: metadata need
 * decoding and throw once the entry has expired.
 */
export function isEntry(object: object): boolean {
  return hasMark(object, Mark.Entry);
}

/** Returns whether it is a tombstone. */
export function isFinalStateUnknown(value: object): boolean {
  return hasMark(value, Mark.Tombstone);
}

/** Returns whether it is a key in place of its object. */
export function isExplicitKey(value: unknown): value is { readonly key: string } {
  return isRecord(value) && hasMark(value, Mark.ExplicitKey);
}

/**
 * Returns the metadata of an object, or an entry itself, which offers the same fields; otherwise undefined. A tombstone has
 * none here: the metadata are of a state that may have changed since.
 */
export function metadataAtHand(object: unknown): Fields | undefined {
  if (!isRecord(object) || isFinalStateUnknown(object)) return undefined;
  const metadata = isEntry(object) ? object : object['metadata'];
  return isRecord(metadata) ? metadata : undefined;
}

/** Returns the labels; empty for a value without metadata or without labels. */
export function labelsOf(object: unknown): Readonly<Record<string, string>> {
  const labels = metadataAtHand(object)?.['labels'];
  return isRecord(labels) ? (labels as Readonly<Record<string, string>>) : {};
}

/** Returns the uid; empty for a value without metadata or without a uid. */
export function uidOf(object: unknown): string {
  const uid = metadataAtHand(object)?.['uid'];
  return typeof uid === 'string' ? uid : '';
}

/** Returns the resourceVersion; undefined for a value without metadata or without a resourceVersion. */
export function resourceVersionOf(object: unknown): string | undefined {
  const version = metadataAtHand(object)?.['resourceVersion'];
  return typeof version === 'string' && version !== '' ? version : undefined;
}

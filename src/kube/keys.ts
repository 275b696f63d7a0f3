/**
 * Keys: `namespace/name`, or `name` for an object without a namespace. The functions take the items of stores,
 * queues and handlers: plain objects with metadata, cached entries of an informer, explicit keys and (the
 * deletion-handling ones) tombstones.
 *
 * Unlike client-go, an object without a name has no key: all such objects would share it.
 */
import { KubeloomError, messageOf } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';
import { Mark, isExplicitKey, isRecord, mark, metadataAtHand } from './meta-shape.ts';
import type { KeyFunction } from './store.ts';
import { isTombstone } from './tombstone.ts';

/** A key in place of its object, where only the key is known. */
export class ExplicitKey {
  /** The key that key functions return for this value. */
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  /** Returns the key. */
  toString(): string {
    return this.key;
  }

  static {
    mark(this.prototype, Mark.ExplicitKey);
  }
}

/** The error of a key function. `cause` is the original error. The message does not contain the object. */
export class KeyError extends KubeloomError {
  /** Always `KeyError`. */
  override readonly name: string = 'KeyError';
  // Private, with a getter: logging the error must not print the object, which may be a Secret.
  readonly #object: unknown;

  constructor(object: unknown, cause: unknown) {
    const reason = messageOf(cause);
    super('ERR_KUBELOOM_KEY', `no key for ${describe(object)}: ${reason}`, { cause });
    this.#object = object;
  }

  /** The value without a key. Logging the error does not print it. */
  get object(): unknown {
    return this.#object;
  }
}

/** Namespace and name; the namespace is empty for a cluster-scoped object. */
export class ObjectName {
  /** '' for a cluster-scoped object. */
  readonly namespace: string;
  /** Name in the namespace. */
  readonly name: string;

  constructor(namespace: string, name: string) {
    this.namespace = namespace;
    this.name = name;
  }

  /** Returns the key. */
  toString(): string {
    return this.namespace === '' ? this.name : `${this.namespace}/${this.name}`;
  }
}

/** Parses a key `namespace/name`. @throws ERR_KUBELOOM_KEY for a key with more than one slash */
export function parseObjectName(key: string): ObjectName {
  if (typeof key !== 'string')
    throw new KubeloomError('ERR_KUBELOOM_KEY', `a key is text, got ${shown(key)}`);
  const slash = key.indexOf('/');
  if (slash < 0) return new ObjectName('', key);
  if (key.includes('/', slash + 1)) {
    throw new KubeloomError('ERR_KUBELOOM_KEY', `unexpected key format: ${JSON.stringify(key)}`);
  }
  return new ObjectName(key.slice(0, slash), key.slice(slash + 1));
}

/** Returns the namespace and the name of a key. @throws ERR_KUBELOOM_KEY for a key with more than one slash */
export function splitMetaNamespaceKey(key: string): { namespace: string; name: string } {
  const { namespace, name } = parseObjectName(key);
  return { namespace, name };
}

/** Returns the namespace and the name of an object. @throws ERR_KUBELOOM_KEY when the metadata have no name */
export function metaObjectToName(metadata: {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}): ObjectName {
  const { namespace = '', name } = Object(metadata) as typeof metadata;
  if (typeof name !== 'string' || name === '') throw new KeyError(metadata, 'it has no name');
  if (typeof namespace !== 'string') throw new KeyError(metadata, 'its namespace is not a string');
  return new ObjectName(namespace, name);
}

/**
 * Returns the namespace and the name of an object.
 *
 * @throws ERR_KUBELOOM_KEY for a value without metadata or without a name
 */
export function objectToName(object: unknown): ObjectName {
  if (!isRecord(object)) throw new KeyError(object, 'it is not an object');
  if (isTombstone(object))
    throw new KeyError(object, 'use the deletion-handling key function for tombstones');
  const metadata = metadataAtHand(object);
  if (!metadata) throw new KeyError(object, 'it has no metadata');
  try {
    return metaObjectToName(metadata);
  } catch (error) {
    throw new KeyError(object, error instanceof KeyError ? error.cause : error);
  }
}

/** Returns the name as `objectToName` does; a tombstone's name is in the key. */
export function deletionHandlingObjectToName(object: unknown): ObjectName {
  return isTombstone(object) ? parseObjectName(object.key) : objectToName(object);
}

/**
 * Returns the key of an object: `namespace/name`.
 *
 * @throws ERR_KUBELOOM_KEY for a value without metadata or without a name
 */
export function metaNamespaceKeyFunc(object: unknown): string {
  if (isExplicitKey(object)) return object.key;
  return objectToName(object).toString();
}

/** Returns the key as `metaNamespaceKeyFunc` does; for a tombstone, the tombstone's key. */
export function deletionHandlingMetaNamespaceKeyFunc(object: unknown): string {
  return isTombstone(object) ? object.key : metaNamespaceKeyFunc(object);
}

/** Returns the item's key. An error of the function, or a result that is not a string, becomes a KeyError. */
export function keyOf<Item>(keyFunction: KeyFunction<Item>, item: Item): string {
  let key: unknown;
  try {
    key = keyFunction(item);
  } catch (error) {
    throw error instanceof KeyError ? error : new KeyError(item, error);
  }
  if (typeof key !== 'string') throw new KeyError(item, `the key function returned ${describe(key)}`);
  return key;
}

function describe(object: unknown): string {
  if (!isRecord(object)) return object === null ? 'null' : `a ${typeof object}`;
  return typeof object['kind'] === 'string' ? `a ${object['kind']}` : 'an object';
}

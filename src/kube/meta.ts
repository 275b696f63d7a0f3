/**
 * apimachinery's `meta`: metadata of any object or list, independent of its type. An accessor is a thin view:
 * it reads and writes the original object.
 *
 * An absent field reads as its zero value: '' for a string, 0 for a number, an empty record or array;
 * timestamps and remainingItemCount are undefined. Writing a zero value removes the field, as `omitempty` does.
 */
import { KubeloomError } from '../base/errors.ts';
import { callback } from '../base/option-checks.ts';
import { isEntry, isFinalStateUnknown, isRecord } from './meta-shape.ts';
import type { Fields } from './meta-shape.ts';

/** Text in JSON; client-node's models have a Date. */
export type Timestamp = string | Date;

/** A reference from an object to its owner. */
export interface OwnerReference {
  /** Group and version of the owner: `apps/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, in the namespace of the object or cluster-scoped. */
  readonly name: string;
  /** uid of the owner: a later object of this name is not the owner. */
  readonly uid: string;
  /** True for the owner that is the controller; an object has at most one. */
  readonly controller?: boolean;
  /** True: a foreground deletion of the owner waits for the deletion of the object. */
  readonly blockOwnerDeletion?: boolean;
}

/** Reads and writes the metadata of an object. */
export interface ObjectAccessor {
  /** Name of the object; '' before the server generated it. */
  name: string;
  /** Namespace; '' for a cluster-scoped object. */
  namespace: string;
  /** Prefix from which the server generates the name; '' without a prefix. */
  generateName: string;
  /** Identity of this object among all objects of this name; '' before the object is created. */
  uid: string;
  /** Version of the object; '' before the object is created. */
  resourceVersion: string;
  /** Number that the server raises with each change of the wanted state; 0 if absent. */
  generation: number;
  /** Labels by key; empty if absent. */
  labels: Readonly<Record<string, string>>;
  /** Annotations by key; empty if absent. */
  annotations: Readonly<Record<string, string>>;
  /** Owners; empty if absent. */
  ownerReferences: readonly OwnerReference[];
  /** Names that keep a deleted object; empty if absent. */
  finalizers: readonly string[];
  /** Fields by manager, as the server records them; empty if absent, or if a transform removed them. */
  managedFields: readonly object[];
  /** Time of the creation; undefined before the object is created. */
  creationTimestamp: Timestamp | undefined;
  /** Time from which the object may be removed; undefined if no deletion was requested. */
  deletionTimestamp: Timestamp | undefined;
  /** Seconds between the request of the deletion and `deletionTimestamp`; undefined if no deletion was requested. */
  deletionGracePeriodSeconds: number | undefined;
}

/** Reads and writes the metadata of a list. */
export interface ListAccessor {
  /** Version of the collection; '' if absent. */
  resourceVersion: string;
  /** Token of the next page; '' on the last page. */
  continue: string;
  /** Number of objects after this page; undefined if the server does not know it, and on the last page. */
  remainingItemCount: number | undefined;
}

const NO_RECORD: Readonly<Record<string, string>> = Object.freeze({});
const NO_ARRAY: readonly never[] = Object.freeze([]);

const OBJECT_ZEROS: Zeros<ObjectAccessor> = {
  name: '',
  namespace: '',
  generateName: '',
  uid: '',
  resourceVersion: '',
  generation: 0,
  labels: NO_RECORD,
  annotations: NO_RECORD,
  ownerReferences: NO_ARRAY,
  finalizers: NO_ARRAY,
  managedFields: NO_ARRAY,
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: undefined,
};

const LIST_ZEROS: Zeros<ListAccessor> = {
  resourceVersion: '',
  continue: '',
  remainingItemCount: undefined,
};

const viewOfObject = viewClass<ObjectAccessor>(OBJECT_ZEROS);
const viewOfList = viewClass<ListAccessor>(LIST_ZEROS);

/** Fields of an entry outside the metadata: always readable, without decoding. */
const AT_HAND: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'labels',
  'deletionTimestamp',
]);

/** Object that a view reads and writes. */
interface Source {
  read(field: string): unknown;
  write(field: string, value: unknown): void;
  remove(field: string): void;
}

/**
 * Returns the metadata of an object, to read and to write; of an informer's entry, to read.
 *
 * @throws ERR_KUBELOOM_OPTION for anything else
 */
export function accessor(object: unknown): ObjectAccessor {
  if (isRecord(object) && !isFinalStateUnknown(object)) {
    if (isEntry(object)) return viewOfObject(entrySource(object));
    const metadata = object['metadata'];
    if (isRecord(metadata)) return viewOfObject(recordSource(metadata));
  }
  throw new KubeloomError('ERR_KUBELOOM_OPTION', 'the object lacks metadata: pass an API object');
}

/**
 * Returns the metadata of a list, to read and to write.
 *
 * @throws ERR_KUBELOOM_OPTION for a value with neither metadata nor items
 */
export function listAccessor(list: unknown): ListAccessor {
  const metadata = isRecord(list) ? list['metadata'] : undefined;
  if (isRecord(list) && isRecord(metadata)) return viewOfList(recordSource(metadata));
  if (!isListType(list)) throw notAList();
  // A list may come without metadata: the first write creates them.
  return viewOfList(recordSource({}, list));
}

/** Returns whether the value is a list. The items of an empty list may be null or absent. */
export function isListType(value: unknown): value is { readonly items?: readonly unknown[] | null } {
  return itemsOf(value) !== undefined;
}

/**
 * Returns the items of a list; undefined for any other value, such as a Status, a Table or a single object. Taking such a
 * value for an empty list would delete every object.
 */
export function itemsOf<T>(list: { readonly items?: readonly T[] | null }): readonly T[] | undefined;
export function itemsOf(list: unknown): readonly unknown[] | undefined;
export function itemsOf(list: unknown): readonly unknown[] | undefined {
  if (!isRecord(list)) return undefined;
  const { items, kind, metadata } = list;
  if (Array.isArray(items)) return items;
  if (items === null) return [];
  if (items !== undefined || !isRecord(metadata) || metadata['name'] !== undefined) return undefined;
  const isList = kind === undefined ? typeof metadata['resourceVersion'] === 'string' : isListKind(kind);
  return isList ? [] : undefined;
}

function isListKind(kind: unknown): kind is string {
  return typeof kind === 'string' && kind.endsWith('List');
}

/**
 * Returns the items in a new array. An item without kind or apiVersion, as servers send them in a list, is a
 * shallow copy with the values derived from the list (`PodList` has Pods).
 *
 * @throws ERR_KUBELOOM_OPTION for a value without items, or with an item that is no object
 */
export function extractList<T extends object>(list: { readonly items: readonly T[] }): T[];
/** Returns the items of a list. */
export function extractList(list: unknown): object[];
/** Returns the items of a list. */
export function extractList(list: unknown): object[] {
  const items: object[] = [];
  eachListItem(list, (item) => items.push(item));
  return items;
}

/** Visits the items of `extractList` in turn; an error of `visit` ends it. */
export function eachListItem<T extends object>(
  list: { readonly items: readonly T[] },
  visit: (item: T) => void,
): void;
/** Calls `visit` for each item of a list. */
export function eachListItem(list: unknown, visit: (item: object) => void): void;
/** Calls `visit` for each item of a list. */
export function eachListItem(list: unknown, visit: (item: object) => void): void {
  callback('visit', visit);
  const items = itemsOf(list);
  if (!items) throw notAList();
  const { kind, apiVersion } = list as Fields;
  const isTyped = isListKind(kind) && kind !== 'List';
  const itemKind = isTyped ? kind.slice(0, -'List'.length) : undefined;
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `items[${index}] of the list is not an object`);
    }
    visit(itemKind === undefined ? item : filledItem(item, itemKind, apiVersion));
  }
}

/** Kind and apiVersion come first, as in every single object from the server. */
function filledItem(item: Fields, kind: string, apiVersion: unknown): object {
  const isComplete = item['kind'] !== undefined && item['apiVersion'] !== undefined;
  if (isComplete || isEntry(item)) return item;
  const typeMeta: Record<string, unknown> = {};
  const version = item['apiVersion'] ?? apiVersion;
  if (version !== undefined) typeMeta['apiVersion'] = version;
  typeMeta['kind'] = item['kind'] ?? kind;
  // Keeps the class of an instance.
  const filled = Object.create(Object.getPrototypeOf(item) as object | null) as object;
  return Object.assign(filled, typeMeta, item, typeMeta);
}

function notAList(): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_OPTION', 'the object is not a list: items are missing');
}

function recordSource(fields: Fields, parent?: Fields): Source {
  const target = fields as Record<string, unknown>;
  return {
    read: (field) => target[field],
    write(field, value): void {
      target[field] = value;
      if (parent && parent['metadata'] !== target) (parent as Record<string, unknown>)['metadata'] = target;
    },
    remove(field): void {
      delete target[field];
    },
  };
}

function entrySource(entry: Fields): Source {
  const invalidOption = (field: string): never => {
    throw new KubeloomError(
      'ERR_KUBELOOM_READ_ONLY',
      `metadata.${field} of a cached object cannot be written, because it is shared: write to a copy()`,
    );
  };
  return {
    read(field): unknown {
      if (AT_HAND.has(field)) return entry[field];
      const metadata = entry['metadata'];
      return isRecord(metadata) ? metadata[field] : undefined;
    },
    write: invalidOption,
    remove: invalidOption,
  };
}

type Zeros<View> = { readonly [Field in keyof View]: View[Field] };

/** Returns a class whose instances have a property for each zero value; the zeros define the types of the fields. */
function viewClass<View extends object>(zeros: Zeros<View>): (source: Source) => View {
  class FieldView {
    readonly #source: Source;

    constructor(source: Source) {
      this.#source = source;
    }

    static define(field: string, zero: unknown): void {
      Object.defineProperty(FieldView.prototype, field, {
        enumerable: true,
        get(this: FieldView): unknown {
          return this.#source.read(field) ?? zero;
        },
        set(this: FieldView, value: unknown): void {
          if (isZero(value, zero)) this.#source.remove(field);
          else this.#source.write(field, value);
        },
      });
    }
  }
  for (const [field, zero] of Object.entries(zeros)) FieldView.define(field, zero);
  return (source) => new FieldView(source) as View;
}

/** Returns false for 0 where undefined is the zero value: a grace period of 0 seconds is meaningful. */
function isZero(value: unknown, zero: unknown): boolean {
  if (value === undefined || value === null || value === zero) return true;
  if (zero === undefined || !isRecord(value)) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** Changes of objects, and functions that select the changes that matter: controller-runtime's predicates. */
import type { Borrowed } from '../index.ts';
import { anObject, having } from '../base/option-checks.ts';
import { isSameMember } from '../informer/same-member.ts';

/** A change of an object. `object` is the newest state; after a deletion, the last state that was received. */
export type ObjectChange<T = unknown> =
  | { readonly type: 'add'; readonly object: Borrowed<T>; readonly isInInitialList: boolean }
  | { readonly type: 'update'; readonly object: Borrowed<T>; readonly previous: Borrowed<T> }
  | { readonly type: 'delete'; readonly object: Borrowed<T> };

/** Returns whether a change matters. */
export type Predicate<T = unknown> = (change: ObjectChange<T>) => boolean;

/**
 * Selects updates of the generation, additions and deletions. The server raises the generation of most kinds when the
 * spec changes, and not when status, labels or annotations do.
 */
export function generationChanged(change: ObjectChange): boolean {
  return isChanged(change, (previous, object) => previous.generation !== object.generation);
}

/** Selects updates of the spec, additions and deletions. It compares bytes, without parsing them. */
export function specChanged(change: ObjectChange): boolean {
  return isMemberChanged(change, 'spec');
}

/** Selects updates of the status, additions and deletions. It compares bytes, without parsing them. */
export function statusChanged(change: ObjectChange): boolean {
  return isMemberChanged(change, 'status');
}

/** Selects updates of labels, additions and deletions. */
export function labelsChanged(change: ObjectChange): boolean {
  return isChanged(change, (previous, object) => !isSame(previous.labels, object.labels));
}

/** Selects updates of annotations, additions and deletions. */
export function annotationsChanged(change: ObjectChange): boolean {
  return isChanged(change, (previous, object) => {
    anObject('change.previous.metadata', previous.metadata);
    anObject('change.object.metadata', object.metadata);
    return !isSame(previous.metadata.annotations, object.metadata.annotations);
  });
}

/** Selects updates by another write, additions and deletions: no resyncs and no objects that a relist found unchanged. */
export function resourceVersionChanged(change: ObjectChange): boolean {
  return isChanged(change, (previous, object) => previous.resourceVersion !== object.resourceVersion);
}

/** Selects changes that all of the predicates select. */
export function and<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** Selects changes that at least one of the predicates selects. */
export function or<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/**
 * Selects changes that the predicate does not select; `not(generationChanged)` selects neither additions nor deletions.
 */
export function not<T>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change);
}

type Entry = Borrowed<unknown>;

/** Compares the two states of an update; an addition and a deletion are changes. @throws ERR_KUBELOOM_OPTION */
function isChanged(change: ObjectChange, compare: (previous: Entry, object: Entry) => boolean): boolean {
  anObject('change', change);
  if (change.type !== 'update') return true;
  anObject('change.previous', change.previous);
  anObject('change.object', change.object);
  return compare(change.previous, change.object);
}

const anEntry = having('an entry of a cache', 'member');

function isMemberChanged(change: ObjectChange, name: string): boolean {
  return isChanged(change, (previous, object) => {
    anEntry('change.previous', previous);
    anEntry('change.object', object);
    return !isSameMember(previous, object, name);
  });
}

type Texts = Readonly<Record<string, string>>;

function isSame(a: Texts = {}, b: Texts = {}): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && a[name] === b[name]);
}

/** One state of one object, as callers see it: the types of entries. */
import type { MetadataOf } from '../../kube/meta-shape.ts';
import type { Identity, Labels } from './extracted-fields.ts';

/** The type of a kind's `spec`: not undefined when the kind says that each object has one. */
export type SpecOf<T> = T extends { readonly spec?: unknown } ? T['spec'] : unknown;

/** The type of a kind's `status`. */
export type StatusOf<T> = T extends { readonly status?: unknown } ? T['status'] : unknown;

/** `T` without the readonly of every level. */
export type Mutable<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T;

/** The metadata that stays readable on both types. */
export interface ObjectIdentity extends Identity {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly deletionTimestamp: string | undefined;
  readonly controllerUid: string | undefined;
  readonly labels: Labels;
  /** The declared fields by their path; undefined where the object has none. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An object that a handler borrows for one call. Call `retain()` to keep it. */
export interface Borrowed<T> extends ObjectIdentity {
  readonly finalStateUnknown: false;
  /**
   * `metadata` without `managedFields`; much cheaper than `object`. Read-only: other states of the object may share its
   * values.
   */
  readonly metadata: MetadataOf<T>;
  /** `spec` alone, which costs a part of `object`; undefined if there is none. Read-only as `object`. */
  readonly spec: SpecOf<T>;
  /** `status` alone, which costs a part of `object`; undefined if there is none. Read-only as `object`. */
  readonly status: StatusOf<T>;
  /**
   * A member of the object's top level alone, such as `data`. In `onUpdate` a member whose bytes have not changed has one
   * value in both states: `previous.spec === current.spec`.
   */
  member<Name extends keyof T & string>(name: Name): T[Name] | undefined;
  member(name: string): unknown;
  /** The whole object as the server sent it. Read-only: all readers share it. */
  readonly object: T;
  /** A deep, mutable copy of `object`. */
  copy(): Mutable<T>;
  /** The object's JSON, in a private copy. */
  bytes(): Buffer;
  /** The same entry, readable for as long as you keep it. */
  retain(): CachedObject<T>;
  toJSON(): T;
}

/** An object from a lister, or a retained one. */
export interface CachedObject<T> extends Borrowed<T> {
  readonly kept: true;
}

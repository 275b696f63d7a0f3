/** A state of an object, as callers see it: the types of entries. */
import type { MetadataOf } from '../../kube/meta-shape.ts';
import type { Identity, Labels } from './extracted-fields.ts';

/** The type of a kind's `spec`: not undefined if every object of the kind contains a `spec`. */
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
  /** `metadata.uid`; '' if the object lacks it. */
  readonly uid: string;
  /** Version of this state: see `compareResourceVersions`. */
  readonly resourceVersion: string;
  /** `metadata.generation`, which the server raises when `spec` changes; undefined if the object lacks it. */
  readonly generation: number | undefined;
  /** `metadata.deletionTimestamp` in RFC 3339; undefined unless a graceful deletion was requested. */
  readonly deletionTimestamp: string | undefined;
  /** The uid of the owner reference with `controller: true`; undefined without a controller. */
  readonly controllerUid: string | undefined;
  /** Labels by name, frozen; empty if the object lacks labels. */
  readonly labels: Labels;
  /** The declared fields by path; undefined for a field that the object lacks. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An object that a handler borrows for the time of a call. Call `retain()` to keep it. */
export interface Borrowed<T> extends ObjectIdentity {
  /** Always false: in `onDelete` it excludes a `DeletedFinalStateUnknown`. */
  readonly finalStateUnknown: false;
  /**
   * `metadata` without `managedFields`; much cheaper than `object`. Read-only: other states of the object may share the
   * values.
   */
  readonly metadata: MetadataOf<T>;
  /** Only `spec`, at a part of the cost of `object`; undefined if there is no `spec`. Read-only as `object`. */
  readonly spec: SpecOf<T>;
  /** Only `status`, at a part of the cost of `object`; undefined if there is no `status`. Read-only as `object`. */
  readonly status: StatusOf<T>;
  /**
   * Only this member of the object's top level, such as `data`. In `onUpdate`, a member with unchanged bytes
   * is the same value in both states: `previous.spec === current.spec`.
   */
  member<Name extends keyof T & string>(name: Name): T[Name] | undefined;
  /** A member that the type does not name; undefined if the object lacks it. */
  member(name: string): unknown;
  /** The whole object as the server sent it. Read-only: all readers share it. */
  readonly object: T;
  /** A deep, mutable copy of `object`. */
  copy(): Mutable<T>;
  /** The object's JSON, in a private copy. */
  bytes(): Buffer;
  /** The same entry, readable for as long as you keep it. */
  retain(): CachedObject<T>;
  /** Returns `object`, so that `JSON.stringify` writes the object. */
  toJSON(): T;
}

/** An object from a lister, or a retained object. */
export interface CachedObject<T> extends Borrowed<T> {
  /** Distinguishes the two types for the compiler. At run time, every entry answers true. */
  readonly kept: true;
}

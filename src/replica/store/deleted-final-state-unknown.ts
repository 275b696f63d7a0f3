/** A deletion that was not observed, as handlers receive it. */
import { inspect } from 'node:util';
import { inspectAs } from '../../base/inspect-as.ts';
import { Mark, mark } from '../../kube/meta-shape.ts';
import type { MetadataOf } from '../../kube/meta-shape.ts';
import type { Borrowed, ObjectIdentity, SpecOf, StatusOf } from './cached-object.ts';
import type { Labels } from './extracted-fields.ts';

/**
 * The object of a deletion that no watch event reported: a relist found the object missing. It answers like the last
 * known state, so a handler that reads identity, labels, fields, metadata or object treats both deletions alike.
 */
export class DeletedFinalStateUnknown<T> implements ObjectIdentity {
  /**
   * The last known state; the object may have changed since. Readable until the handler's call ends, like any borrowed
   * entry.
   */
  readonly last: Borrowed<T>;

  constructor(last: Borrowed<T>) {
    this.last = last;
  }

  get finalStateUnknown(): true {
    return true;
  }

  get key(): string {
    return this.last.key;
  }

  get namespace(): string {
    return this.last.namespace;
  }

  get name(): string {
    return this.last.name;
  }

  get uid(): string {
    return this.last.uid;
  }

  get resourceVersion(): string {
    return this.last.resourceVersion;
  }

  get generation(): number | undefined {
    return this.last.generation;
  }

  get deletionTimestamp(): string | undefined {
    return this.last.deletionTimestamp;
  }

  get controllerUid(): string | undefined {
    return this.last.controllerUid;
  }

  get labels(): Labels {
    return this.last.labels;
  }

  get fields(): Readonly<Record<string, unknown>> {
    return this.last.fields;
  }

  /** The last known metadata. */
  get metadata(): MetadataOf<T> {
    return this.last.metadata;
  }

  /** Only the `spec` of the last known state. */
  get spec(): SpecOf<T> {
    return this.last.spec;
  }

  /** Only the `status` of the last known state. */
  get status(): StatusOf<T> {
    return this.last.status;
  }

  /** Only this member of the last known object. */
  member<Name extends keyof T & string>(name: Name): T[Name] | undefined;
  member(name: string): unknown;
  member(name: string): unknown {
    return this.last.member(name);
  }

  /** The last known object. */
  get object(): T {
    return this.last.object;
  }

  static {
    mark(this.prototype, Mark.Tombstone);
    inspectAs(this.prototype, ({ last }) => `DeletedFinalStateUnknown ${inspect(last)}`);
  }
}

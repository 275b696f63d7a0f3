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

  /** Always true: in `onDelete` it excludes the last state of an observed deletion. */
  get finalStateUnknown(): true {
    return true;
  }

  /** `namespace/name`, or `name` for a cluster-scoped object. */
  get key(): string {
    return this.last.key;
  }

  /** Namespace of the object; '' for a cluster-scoped object. */
  get namespace(): string {
    return this.last.namespace;
  }

  /** Name of the object. */
  get name(): string {
    return this.last.name;
  }

  /** The uid of the last known state; '' if it lacks a uid. The deleted object may have another uid. */
  get uid(): string {
    return this.last.uid;
  }

  /** Version of the last known state, which is older than the deletion. */
  get resourceVersion(): string {
    return this.last.resourceVersion;
  }

  /** Generation of the last known state; undefined if the object lacks it. */
  get generation(): number | undefined {
    return this.last.generation;
  }

  /** Timestamp of the last known state; undefined also if the deletion was requested after that state. */
  get deletionTimestamp(): string | undefined {
    return this.last.deletionTimestamp;
  }

  /** The uid of the controller in the last known state; undefined without a controller. */
  get controllerUid(): string | undefined {
    return this.last.controllerUid;
  }

  /** Labels of the last known state, frozen. */
  get labels(): Labels {
    return this.last.labels;
  }

  /** Declared fields of the last known state, by path. */
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
  /** A member that the type does not name; undefined if the object lacks it. */
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

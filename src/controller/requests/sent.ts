/** The types of objects that are sent: a field that the kind does not name is an error of the compiler. */
import type { KubeObject, WireOf } from '../../kube/wire.ts';

/** The fields of `T` that have a name: the index signature of an interface that extends KubeObject would take any other. */
type Named<T> = {
  readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K];
};

/** `T` with only the named fields; a type without named fields of its own, such as KubeObject, stays open. */
export type NamedFields<T> = string extends keyof T
  ? [Exclude<keyof Named<T>, keyof Named<KubeObject>>] extends [never]
    ? T
    : Named<T>
  : T;

/** `T`, which the compiler does not infer from an argument of this type: the resource alone decides. */
type Uninferred<T> = [T][T extends unknown ? 0 : never];

/** The type of an object that is sent. */
export type Sent<T> = Uninferred<NamedFields<T>>;

/** `T` with every field optional, at every depth. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** The object of an apply: the fields that the manager will own. */
export type ApplyConfiguration<T> = Uninferred<
  DeepPartial<NamedFields<T>> & {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }
>;

/** The bodies of subresources that are not objects of the resource. */
export interface SubresourceTypes {
  /** Number of replicas, to read and to write. */
  readonly scale: WireOf<'autoscaling', 'v1', 'Scale'>;
  /** Deletion of a pod, if the disruption budgets allow it. */
  readonly eviction: WireOf<'policy', 'v1', 'Eviction'>;
  /** Assignment of a pod to a node. */
  readonly binding: WireOf<'core', 'v1', 'Binding'>;
  /** Request of a token of a service account. */
  readonly token: WireOf<'authentication', 'v1', 'TokenRequest'>;
}

/** The type of a subresource: the table's, or the resource's own, as for `status`. */
export type SubresourceOf<T, S extends string> = S extends keyof SubresourceTypes ? SubresourceTypes[S] : T;

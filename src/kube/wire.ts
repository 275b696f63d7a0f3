/** The types of JSON objects on the wire. A built-in kind is found by name; a kind without a model is a `KubeObject`. */
import type { ModelNamed, ObjectMeta } from './models.ts';
import type { BuiltInGroups } from './resources.ts';

/** An object of any kind. */
export interface KubeObject {
  /** `Pod`. */
  readonly kind?: string;
  /** `v1` or `apps/v1`. */
  readonly apiVersion?: string;
  /** Name, namespace, labels and the other metadata, as the server sent them. */
  readonly metadata?: ObjectMeta;
  /** Any other member, such as `spec`, `status` or `data`. */
  readonly [field: string]: unknown;
}

/** Response to a request for metadata only. */
export interface PartialObjectMetadata {
  /** `PartialObjectMetadata`, or the kind of the object from a server that sends whole objects. */
  readonly kind?: string;
  /** `meta.k8s.io/v1`, or the apiVersion of the object from a server that sends whole objects. */
  readonly apiVersion?: string;
  /** Name, namespace, labels and the other metadata, as the server sent them. */
  readonly metadata: ObjectMeta;
}

/** Name of the model. Two groups have events, so those models carry the group. */
type ModelOf<Group extends string, Version extends string, Kind extends string> =
  | ModelNamed<`${Capitalize<Version>}${Kind}`>
  | ModelNamed<`${Capitalize<Group>}${Capitalize<Version>}${Kind}`>;

type Known<T> = [T] extends [never] ? KubeObject : T;

/** The type by client-go's name of the group: `WireOf<'apps', 'v1', 'Deployment'>`. */
export type WireOf<Group extends string, Version extends string, Kind extends string> = Known<
  ModelOf<Group, Version, Kind>
>;

/** The object type of a factory's `apps.v1.deployments`. */
export type BuiltInWire<
  Group extends keyof BuiltInGroups,
  Version extends keyof BuiltInGroups[Group]['versions'],
  Resource extends keyof BuiltInGroups[Group]['versions'][Version],
> = BuiltInGroups[Group]['versions'][Version][Resource] extends { readonly kind: infer Kind extends string }
  ? WireOf<Group, Version & string, Kind>
  : never;

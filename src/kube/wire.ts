/**
 * The types of JSON objects on the wire: Kubernetes' own field names, dates as text, read-only. They are derived by
 * name from the models of the installed @kubernetes/client-node; a kind that has no model there is a `KubeObject`.
 */
import type * as clientNode from '@kubernetes/client-node';
import type { BuiltInGroups } from './resources.ts';

/** An object of any kind. */
export interface KubeObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: Wire<clientNode.V1ObjectMeta>;
  readonly [field: string]: unknown;
}

/** Response to a request for metadata only. */
export interface PartialObjectMetadata {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Wire<clientNode.V1ObjectMeta>;
}

/** Keys that client-node's models rename, everywhere. */
interface RenamedKeys {
  _continue: 'continue';
  _default: 'default';
  _enum: 'enum';
  _from: 'from';
  _int: 'int';
  x_kubernetes_embedded_resource: 'x-kubernetes-embedded-resource';
  x_kubernetes_int_or_string: 'x-kubernetes-int-or-string';
  x_kubernetes_list_map_keys: 'x-kubernetes-list-map-keys';
  x_kubernetes_list_type: 'x-kubernetes-list-type';
  x_kubernetes_map_type: 'x-kubernetes-map-type';
  x_kubernetes_preserve_unknown_fields: 'x-kubernetes-preserve-unknown-fields';
  x_kubernetes_validations: 'x-kubernetes-validations';
}

/** Keys renamed within a JSON schema only; elsewhere they are unchanged. */
interface RenamedSchemaKeys extends RenamedKeys {
  ref: '$ref';
  schema: '$schema';
}

type RenamedKeysOf<T> = 'x_kubernetes_validations' extends keyof T ? RenamedSchemaKeys : RenamedKeys;
type WireKey<K, Renamed> = K extends keyof Renamed ? Renamed[K] & string : K;
type IsAny<T> = 0 extends 1 & T ? true : false;

/** The server's form of client-node's model `T`. */
export type Wire<T> =
  IsAny<T> extends true
    ? unknown
    : T extends Date
      ? string
      : T extends readonly (infer Item)[]
        ? readonly Wire<Item>[]
        : T extends object
          ? { readonly [K in keyof T as WireKey<K, RenamedKeysOf<T>>]: Wire<T[K]> }
          : T;

type Models = typeof clientNode;
type ModelNamed<Name extends string> = Name extends keyof Models
  ? Models[Name] extends abstract new (...given: never) => infer Model
    ? Model
    : never
  : never;

/** Name of the model. Two groups have events, so those models carry the group. */
type ModelOf<Group extends string, Version extends string, Kind extends string> =
  | ModelNamed<`${Capitalize<Version>}${Kind}`>
  | ModelNamed<`${Capitalize<Group>}${Capitalize<Version>}${Kind}`>;

type Known<T> = [T] extends [never] ? KubeObject : Wire<T>;

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

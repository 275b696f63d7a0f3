/**
 * The types of what travels: Kubernetes' own field names, dates as text, read-only. They are made from the
 * models of @kubernetes/client-node by name, so that whichever version is installed is the one that counts;
 * a model that it does not have is `KubeObject`.
 */
import type * as clientNode from '@kubernetes/client-node';
import type { BuiltInGroups } from './resources.ts';

/** Of any kind. */
export interface KubeObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: Wire<clientNode.V1ObjectMeta>;
  readonly [field: string]: unknown;
}

/** What a server sends to those who asked for metadata only. */
export interface PartialObjectMetadata {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Wire<clientNode.V1ObjectMeta>;
}

/** Keys that client-node's models spell differently, everywhere. */
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

/** These only within a JSON schema; elsewhere they are what they look like. */
interface RenamedSchemaKeys extends RenamedKeys {
  ref: '$ref';
  schema: '$schema';
}

type RenamedKeysOf<T> = 'x_kubernetes_validations' extends keyof T ? RenamedSchemaKeys : RenamedKeys;
type WireKey<K, Renamed> = K extends keyof Renamed ? Renamed[K] & string : K;
type IsAny<T> = 0 extends 1 & T ? true : false;

/** What the server sends where client-node's model says `T`. */
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

/** Two groups have events, so their models carry the group. */
type ModelOf<Group extends string, Version extends string, Kind extends string> =
  | ModelNamed<`${Capitalize<Version>}${Kind}`>
  | ModelNamed<`${Capitalize<Group>}${Capitalize<Version>}${Kind}`>;

type Known<T> = [T] extends [never] ? KubeObject : Wire<T>;

/** `WireOf<'apps', 'v1', 'Deployment'>`: by client-go's name of the group. */
export type WireOf<Group extends string, Version extends string, Kind extends string> = Known<
  ModelOf<Group, Version, Kind>
>;

/** What a factory's `apps.v1.deployments` is about. */
export type BuiltInWire<
  Group extends keyof BuiltInGroups,
  Version extends keyof BuiltInGroups[Group]['versions'],
  Resource extends keyof BuiltInGroups[Group]['versions'][Version],
> = BuiltInGroups[Group]['versions'][Version][Resource] extends { readonly kind: infer Kind extends string }
  ? WireOf<Group, Version & string, Kind>
  : never;

/**
 * The types of JSON on the wire, derived from client-node's models: Kubernetes' own field names, dates as text, read-only.
 */

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

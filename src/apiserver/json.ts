/**
 * A Kubernetes object before it is bytes: plain JSON with a metadata block. The embedded server has no other
 * types, so one shape serves every resource.
 */

export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json | undefined;
}

export interface ObjectMeta extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
}

export interface KubeObject extends JsonObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a dotted path such as `spec.nodeName`, or undefined. */
export function valueAt(object: JsonObject, path: string): Json | undefined {
  let current: Json | undefined = object;
  for (const part of path.split('.')) {
    if (!isJsonObject(current)) return undefined;
    current = current[part];
  }
  return current;
}

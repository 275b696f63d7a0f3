/**
 * A Kubernetes object before it is bytes: plain JSON with a metadata block. The embedded server uses no other types, so
 * this shape serves every resource.
 */

/** A bigint is an integer that a number would round: of 64 bits, or of any size in the body of a built-in kind. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json | undefined;
}

export interface ObjectMeta extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number | bigint;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

/** A reference from an object to its owner. */
export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The fields that a manager owns through an operation on a version (and subresource). */
export interface ManagedFieldsEntry extends JsonObject {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

export interface KubeObject extends JsonObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** Takes the place of a bigint while JSON is written; no user can write it by accident. */
const MARK = `integer-${crypto.randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/** Returns JSON with the digits of each bigint, for which JSON.stringify throws. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const marked = (_: string, each: unknown): unknown =>
      typeof each === 'bigint' ? `${MARK}${each}` : each;
    return JSON.stringify(value, marked).replaceAll(MARKED, '$1');
  }
}

/** True for an integer of 64 bits. A larger number is a float in Go. */
export function isInteger(value: Json | undefined): value is number | bigint {
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
}

/** Returns an integer as a number if the number is exact, or a float in Go. */
export function integerOf(exact: bigint): number | bigint {
  const number = Number(exact);
  return Number.isSafeInteger(number) || !isInteger(exact) ? number : exact;
}

export function isNumber(value: Json | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Returns the next integer. */
export function following(integer: number | bigint): number | bigint {
  return integerOf(BigInt(integer) + 1n);
}

/** Returns text unchanged, other values as JSON. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : writeJson(value ?? null);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own member, because a name in a request may be a name of Object.prototype. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Sets an own member, also `__proto__`, which an assignment would turn into the prototype. */
export function setMember(object: JsonObject, name: string, value: Json | undefined): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

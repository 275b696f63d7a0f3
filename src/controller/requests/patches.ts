/** Patches: types, media types, and the checks before a patch is sent. */
import { KubeloomError } from '../../base/errors.ts';
import { described, isOurs } from '../object-arguments.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import type { NamedFields } from './sent.ts';

/** Format of a patch. */
export type PatchType = 'merge' | 'json' | 'strategic';

/** Merge patch: members are replaced, null removes a member, a list is replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | null }
    : T;

/** Directives of a strategic merge patch. */
export interface StrategicDirectives {
  /**
   * `merge`, the default; `replace`: this value replaces the stored value; `delete`: the stored value, or the item with
   * this key, is removed.
   */
  readonly $patch?: 'replace' | 'merge' | 'delete';
  /** Members that stay; the server removes the others. */
  readonly $retainKeys?: readonly string[];
  /**
   * `$setElementOrder/containers`: the order of the items of `containers`, by key.
   * `$deleteFromPrimitiveList/finalizers`: the values to remove from `finalizers`.
   */
  readonly [
    directive: `$setElementOrder/${string}` | `$deleteFromPrimitiveList/${string}`
  ]: readonly unknown[];
}

/** Strategic merge patch: as a merge patch, but the items of many lists are merged by a key, such as the name of a container. */
export type StrategicPatch<T> = T extends readonly (infer Item)[]
  ? readonly StrategicPatch<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: StrategicPatch<T[K]> | null } & StrategicDirectives
    : T;

/** Operation of a JSON patch (RFC 6902). Paths are JSON pointers: `/metadata/labels/app`. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** The patch of an object of type `T`. */
export type PatchOf<T, K extends PatchType> = K extends 'json'
  ? readonly JsonPatchOperation[]
  : K extends 'strategic'
    ? StrategicPatch<NamedFields<T>>
    : MergePatch<NamedFields<T>>;

export const APPLY_MEDIA_TYPE = 'application/apply-patch+yaml';

export const PATCH_MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const WITH_VALUE: ReadonlySet<unknown> = new Set(['add', 'replace', 'test']);
const WITH_FROM: ReadonlySet<unknown> = new Set(['move', 'copy']);

/** Returns the patch. @throws ERR_KUBELOOM_OPTION for a patch of another type, and for an empty patch */
export function checkedPatch({ resource }: ResourceRef, patch: unknown, type: PatchType): object {
  const what = `the patch of an object of ${resource}`;
  if (type === 'json') return checkedOperations(what, patch);
  if (!isRecord(patch) || Array.isArray(patch)) {
    const isList = Array.isArray(patch) && patch.every(isRecord) && patch.length > 0;
    const advice = isList ? ", or operations with type: 'json'" : '';
    throw wrong(
      `${what} is ${described(patch)}: pass a merge patch, an object with the members to change${advice}`,
    );
  }
  if (isOurs(patch))
    throw wrong(`${what} is ${described(patch)}: pass an object with only the members to change`);
  if (Object.values(patch).every((value) => value === undefined))
    throw wrong(`${what} is empty: pass an object with the members to change; null removes one`);
  return patch;
}

function checkedOperations(what: string, patch: unknown): object {
  const advice = "pass operations, such as [{ op: 'replace', path: '/spec/replicas', value: 3 }]";
  if (!Array.isArray(patch)) throw wrong(`${what} is ${described(patch)}: ${advice}`);
  if (patch.length === 0) throw wrong(`${what} is empty: ${advice}`);
  for (const [index, operation] of patch.entries()) {
    const fault = faultOf(operation);
    if (fault !== undefined) throw wrong(`${what}: operation ${index} ${fault}: ${advice}`);
  }
  return patch;
}

function faultOf(operation: unknown): string | undefined {
  if (!isRecord(operation)) return `is ${described(operation)}`;
  const { op, path, from, value } = operation;
  if (!WITH_VALUE.has(op) && !WITH_FROM.has(op) && op !== 'remove')
    return 'has no op of add, replace, test, remove, move or copy';
  if (!isPointer(path)) return "has no path that begins with '/'";
  if (WITH_FROM.has(op) && !isPointer(from)) return "has no from that begins with '/'";
  return WITH_VALUE.has(op) && value === undefined ? 'has no value' : undefined;
}

function isPointer(path: unknown): boolean {
  return typeof path === 'string' && (path === '' || path.startsWith('/'));
}

/** Returns the version that a JSON patch tests, '' without such a test. */
export function testedVersion(operations: readonly unknown[]): string {
  for (const operation of operations) {
    const { op, path, value } = isRecord(operation) ? operation : {};
    if (op === 'test' && path === '/metadata/resourceVersion' && typeof value === 'string') return value;
  }
  return '';
}

function wrong(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_OPTION', message);
}

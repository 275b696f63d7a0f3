/** JSON patch (RFC 6902), as a cluster applies it: negative indexes count from the end, and `replace` may add a member. */

import { isDeepStrictEqual } from 'node:util';
import { goType } from '../shapes/decoder.ts';
import { isJsonObject, memberOf, setMember, writeJson } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { badRequest, failureOf, unprocessable } from '../store/status.ts';

const OPERATIONS_MAX = 10_000;
/** The bytes that all copies of a patch may add. */
const COPIED_BYTES_MAX = 3 * 1024 * 1024;

interface Operation {
  readonly op?: string;
  readonly path?: string | null;
  readonly from?: string | null;
  readonly value?: Json;
}

/** The document is the member '' of the root: the path '' and the path '/a' begin with that name. */
interface Holder {
  readonly root: JsonObject;
  copiedBytes: number;
}

/**
 * Applies a patch to a copy. @throws StatusError 400 for an invalid patch, 413 for too many operations, 422 for a patch
 * that does not apply
 */
export function jsonPatch(target: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch)) throw noOperations(goType(patch), '[]');
  const other = patch.find((entry) => !isJsonObject(entry));
  if (other !== undefined) throw noOperations(goType(other), '');
  if (patch.length > OPERATIONS_MAX) {
    const why = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${patch.length}`;
    throw failureOf(413, `Request entity too large: ${why}`);
  }
  const holder: Holder = { root: { '': structuredClone(target) }, copiedBytes: 0 };
  for (const entry of patch) requireTexts(entry);
  for (const entry of patch) applyOperation(holder, entry as Operation);
  const root = holder.root[''];
  if (!isJsonObject(root)) throw unprocessable();
  return root;
}

const FIELDS: readonly string[] = ['op', 'path', 'from', 'value'];

/** Returns the paths of the members of operations that Go does not know. */
export function unknownOperationFields(patch: Json): string[] {
  return Object.entries(patch ?? []).flatMap(([index, operation]) =>
    Object.keys(Object(operation))
      .filter((name) => !FIELDS.includes(name))
      .map((name) => `[${index}].${name}`),
  );
}

function noOperations(found: string, list: '[]' | ''): Error {
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${found} into Go value of type ${list}handlers.jsonPatchOp`,
  );
}

/** Checks the types of an operation. @throws StatusError 400 for another value than a text or null */
function requireTexts(operation: Json): void {
  for (const name of ['op', 'path', 'from']) {
    const value = memberOf(operation, name);
    if (value === undefined || value === null || typeof value === 'string') continue;
    const field = `Go struct field jsonPatchOp.${name} of type string`;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${goType(value)} into ${field}`);
  }
}

function applyOperation(holder: Holder, operation: Operation): void {
  const { op = '', path = '', from = '', value = null } = operation;
  switch (op) {
    case 'add':
      return add(placeOf(holder, path), value);
    case 'replace':
      return replace(placeOf(holder, path), value);
    case 'remove':
      return remove(placeOf(holder, path));
    case 'copy': {
      const copied = read(placeOf(holder, from)) ?? null;
      holder.copiedBytes += Buffer.byteLength(writeJson(copied));
      if (holder.copiedBytes > COPIED_BYTES_MAX) throw unprocessable();
      return add(placeOf(holder, path), structuredClone(copied));
    }
    case 'move': {
      const source = placeOf(holder, from);
      const moved = read(source);
      remove(source);
      return add(placeOf(holder, path), moved ?? null);
    }
    case 'test':
      // An absent member equals null.
      if (isDeepStrictEqual(read(placeOf(holder, path)) ?? null, value)) return;
      throw unprocessable();
    default:
      throw unprocessable();
  }
}

interface Place {
  readonly parent: Json[] | JsonObject;
  readonly name: string;
}

function placeOf(holder: Holder, path: string | null): Place {
  if (path === null) throw unprocessable();
  const parts = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (parts[0] !== '') throw unprocessable();
  const name = parts.pop() ?? '';
  let parent: Json | undefined = holder.root;
  for (const part of parts) parent = parent && read(containerOf(parent, part));
  return containerOf(parent, name);
}

function containerOf(parent: Json | undefined, name: string): Place {
  if (!Array.isArray(parent) && !isJsonObject(parent)) throw unprocessable();
  return { parent, name };
}

/** Returns the position of an index in a list of this length. @throws StatusError 422 outside the list */
function positionOf(index: string, length: number): number {
  if (!/^-?\d+$/.test(index)) throw unprocessable();
  const number = Number(index);
  const position = number < 0 ? number + length : number;
  if (position < 0 || position >= length) throw unprocessable();
  return position;
}

function read({ parent, name }: Place): Json | undefined {
  return Array.isArray(parent) ? parent[positionOf(name, parent.length)] : memberOf(parent, name);
}

function add({ parent, name }: Place, value: Json): void {
  if (!Array.isArray(parent)) setMember(parent, name, value);
  else if (name === '-') parent.push(value);
  else parent.splice(positionOf(name, parent.length + 1), 0, value);
}

function replace({ parent, name }: Place, value: Json): void {
  if (Array.isArray(parent)) parent[positionOf(name, parent.length)] = value;
  else setMember(parent, name, value);
}

function remove({ parent, name }: Place): void {
  if (Array.isArray(parent)) parent.splice(positionOf(name, parent.length), 1);
  else if (memberOf(parent, name) === undefined) throw unprocessable();
  else delete parent[name];
}

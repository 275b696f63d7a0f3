/**
 * The types by which fields are owned and merged: which lists have keys, which are sets, and which maps and lists are owned as a
 * whole. The schema of a custom resource declares them, and the shape of a built-in kind.
 */

import { EMBEDDED, PRESERVE } from '../crd/schema-node.ts';
import { isJsonObject, memberOf, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { resolved } from '../shapes/shapes.ts';
import type { ShapeNode } from '../shapes/shapes.ts';

/** The rule that distinguishes the items of a list; there is no such rule for an atomic list. */
export type ItemRule =
  | { readonly form: 'set' }
  | { readonly form: 'map'; readonly keys: readonly string[]; readonly defaults: JsonObject };

export interface FieldType {
  /** True for a map that is owned as a whole. */
  readonly isAtomic: boolean;
  readonly items: ItemRule | undefined;
  /** The type of the items of a list. */
  readonly item: FieldType;
  /** True for an object that a Go struct always contains, so no write adds or removes it. */
  readonly isAlwaysPresent: boolean;
  /** Kind of value that the schema demands; undefined if the schema demands none. */
  readonly value: 'map' | 'list' | 'string' | 'numeric' | 'boolean' | undefined;
  /** True for a list that a strategic merge patch merges; any other list is replaced. */
  readonly isMerged: boolean;
  /** The member by which a strategic merge patch finds an item; undefined for a list of scalars. */
  readonly mergeKey: string | undefined;
  /** Returns the type of a member; undefined if this name is not allowed. */
  member(name: string): FieldType | undefined;
  /** True if the type names the member: a field of a struct, not an entry of a map. */
  names(name: string): boolean;
}

/** The form of a value: a tree of fields or items, or a leaf that is owned as a whole. */
export function formOf(type: FieldType, value: Json | undefined): 'fields' | 'items' | 'leaf' {
  if (Array.isArray(value)) return type.items === undefined ? 'leaf' : 'items';
  return isJsonObject(value) && !type.isAtomic ? 'fields' : 'leaf';
}

/** Returns the element of an item; undefined if the item lacks values for the keys. */
export function elementOfItem(rule: ItemRule, item: Json): string | undefined {
  if (rule.form === 'set') return `v:${writeJson(item)}`;
  const entries = rule.keys
    .toSorted()
    .map((key) => [key, memberOf(item, key) ?? rule.defaults[key]] as const);
  const present = entries.filter(([, value]) => value !== undefined);
  return present.length === 0 ? undefined : `k:${writeJson(Object.fromEntries(present))}`;
}

/** Any value: maps are granular, lists are atomic. */
export const UNTYPED: FieldType = {
  isAtomic: false,
  items: undefined,
  isAlwaysPresent: false,
  value: undefined,
  isMerged: false,
  mergeKey: undefined,
  get item() {
    return UNTYPED;
  },
  member: () => UNTYPED,
  names: () => false,
};

const SCALARS: Readonly<Record<string, FieldType['value']>> = {
  object: 'map',
  array: 'list',
  string: 'string',
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
};

/** A node of the schema of a custom resource, or of the shape of a built-in kind. */
class SchemaType implements FieldType {
  readonly #node: ShapeNode;
  readonly #members = new Map<string, FieldType | undefined>();
  readonly #isByValue: boolean;
  readonly #isOpen: boolean;
  /** True for a built-in type that contains an object of any kind. */
  readonly #isRaw: boolean;
  #item: FieldType | undefined;
  readonly isAtomic: boolean;
  readonly items: ItemRule | undefined;
  readonly value: FieldType['value'];
  readonly isAlwaysPresent: boolean;
  readonly isMerged: boolean;
  readonly mergeKey: string | undefined;

  /**
   * @param isByValue true if Go keeps the value inside the root, not behind a pointer or in a list
   * @param isOpen true below a node that preserves unknown fields
   */
  constructor(given: ShapeNode, isByValue: boolean, isOpen = false) {
    const node = resolved(given);
    this.#node = node;
    this.#isByValue = isByValue;
    this.#isRaw = given.$ref !== undefined && node.properties === undefined;
    this.#isOpen = isOpen || node[PRESERVE] === true;
    this.isAtomic = (given[MAP_TYPE] ?? node[MAP_TYPE]) === 'atomic' || given.$ref === RAW;
    this.items = ruleOf(given);
    this.value = typeof node.type === 'string' ? SCALARS[node.type] : undefined;
    this.isAlwaysPresent = isByValue && given.$ref !== undefined;
    this.isMerged = textOf(given['x-kubernetes-patch-strategy']).includes('merge');
    const key = given['x-kubernetes-patch-merge-key'];
    this.mergeKey = typeof key === 'string' ? key : undefined;
  }

  /** Adds the fields of every object, which schemas of custom resources leave out. */
  withObjectFields(): this {
    for (const name of ['apiVersion', 'kind']) this.#members.set(name, UNTYPED);
    this.#members.set('metadata', new SchemaType(METADATA, true));
    return this;
  }

  get item(): FieldType {
    const { items } = this.#node;
    this.#item ??= items === undefined ? UNTYPED : new SchemaType(items, false, this.#isOpen);
    return this.#item;
  }

  member(name: string): FieldType | undefined {
    if (this.#members.has(name)) return this.#members.get(name);
    const { properties = {}, additionalProperties } = this.#node;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) {
      const isByValue = this.#isByValue && isJsonObject(property.default) && property.$ref !== undefined;
      const type = new SchemaType(property, isByValue, this.#isOpen);
      if (property[EMBEDDED] === true) type.withObjectFields();
      this.#members.set(name, type);
      return type;
    }
    if (typeof additionalProperties === 'object')
      return new SchemaType(additionalProperties, false, this.#isOpen);
    const isOpen = additionalProperties === true || this.#isOpen || this.#isRaw;
    return isOpen || this.value === undefined ? UNTYPED : undefined;
  }

  names(name: string): boolean {
    return this.#members.has(name) || Object.hasOwn(this.#node.properties ?? {}, name);
  }
}

/** An object of any kind, which is owned as a whole. */
const RAW = 'pkg.runtime.RawExtension';
const MAP_TYPE = 'x-kubernetes-map-type';
const METADATA: ShapeNode = { $ref: 'meta.v1.ObjectMeta' };

function ruleOf(node: ShapeNode): ItemRule | undefined {
  switch (node['x-kubernetes-list-type']) {
    case 'set':
      return { form: 'set' };
    case 'map': {
      const keys = node['x-kubernetes-list-map-keys'];
      const { properties = {} } = resolved(node.items ?? {});
      const names = Array.isArray(keys) ? keys.map(String) : [];
      const defaults = names.map((name) => [name, memberOf(properties[name], 'default')] as const);
      return { form: 'map', keys: names, defaults: Object.fromEntries(defaults) };
    }
    default:
      return undefined;
  }
}

/** Returns the type of the objects of a structural schema, or of the shape that a reference names. */
export function schemaType(root: ShapeNode): FieldType {
  const type = new SchemaType(root, true);
  return root.$ref === undefined ? type.withObjectFields() : type;
}

/**
 * The types by which fields are owned: which lists have keys, which are sets, and which maps and lists are owned as a
 * whole. The schema of a custom resource declares them. For built-in kinds they are a table by the names of fields,
 * because this server does not contain the schemas of built-in kinds.
 */

import { EMBEDDED, PRESERVE } from '../crd/schema-node.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';

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
  if (rule.form === 'set') return `v:${JSON.stringify(item)}`;
  const entries = rule.keys
    .toSorted()
    .map((key) => [key, memberOf(item, key) ?? rule.defaults[key]] as const);
  const present = entries.filter(([, value]) => value !== undefined);
  return present.length === 0 ? undefined : `k:${JSON.stringify(Object.fromEntries(present))}`;
}

/** Any value: maps are granular, lists are atomic. */
export const UNTYPED: FieldType = {
  isAtomic: false,
  items: undefined,
  isAlwaysPresent: false,
  value: undefined,
  get item() {
    return UNTYPED;
  },
  member: () => UNTYPED,
  names: () => false,
};

const KEY_DEFAULTS = [
  ['protocol', 'TCP'],
  ['uid', ''],
] as const;

function byKeys(...keys: readonly string[]): ItemRule {
  const defaults = KEY_DEFAULTS.filter(([key]) => keys.includes(key));
  return { form: 'map', keys, defaults: Object.fromEntries(defaults) };
}

const SET: ItemRule = { form: 'set' };

/** Lists of built-in kinds by the name of the field; `parent.field` if the name alone is ambiguous. */
const LISTS: ReadonlyMap<string, ItemRule> = new Map([
  ['metadata.finalizers', SET],
  ['metadata.ownerReferences', byKeys('uid')],
  ['status.conditions', byKeys('type')],
  ['spec.containers', byKeys('name')],
  ['spec.initContainers', byKeys('name')],
  ['spec.ephemeralContainers', byKeys('name')],
  ['spec.volumes', byKeys('name')],
  ['spec.hostAliases', byKeys('ip')],
  ['spec.imagePullSecrets', byKeys('name')],
  ['spec.schedulingGates', byKeys('name')],
  ['spec.resourceClaims', byKeys('name')],
  ['spec.topologySpreadConstraints', byKeys('topologyKey', 'whenUnsatisfiable')],
  ['spec.podCIDRs', SET],
  ['spec.ports', byKeys('port', 'protocol')],
  ['item.ports', byKeys('containerPort', 'protocol')],
  ['item.env', byKeys('name')],
  ['item.volumeMounts', byKeys('mountPath')],
  ['item.volumeDevices', byKeys('devicePath')],
  ['resources.claims', byKeys('name')],
  ['status.addresses', byKeys('type')],
  ['status.podIPs', byKeys('ip')],
  ['root.secrets', byKeys('name')],
]);

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** Objects of built-in kinds that are owned as a whole: selectors and references. */
const ATOMIC: ReadonlySet<string> = words(`
  selector labelSelector podSelector namespaceSelector objectSelector nodeSelector scopeSelector required
  secretKeyRef configMapKeyRef fileKeyRef fieldRef resourceFieldRef secretRef nodePublishSecretRef nodeStageSecretRef
  controllerPublishSecretRef roleRef involvedObject regarding related targetRef dataSource port
`);
/** A selector of nodes is atomic; the field of this name in the affinity of pods is a list. */
const NODE_SELECTOR = 'requiredDuringSchedulingIgnoredDuringExecution';
/** Items of lists with keys that are references, so they are owned as a whole. */
const ATOMIC_ITEMS: ReadonlySet<string> = new Set(['ownerReferences', 'imagePullSecrets', 'secrets']);
/** Objects that Go keeps by value in every object above them. */
const BY_VALUE: ReadonlySet<string> = words(
  'metadata spec status template strategy updateStrategy jobTemplate',
);
/** Kinds whose conditions are an atomic list. */
const ATOMIC_CONDITIONS: ReadonlySet<string> = new Set(['Job']);

/** A field of a built-in kind. */
class BuiltInType implements FieldType {
  readonly #kind: string;
  readonly #name: string;
  readonly #isItem: boolean;
  readonly #members = new Map<string, FieldType>();
  #item: FieldType | undefined;
  readonly isAtomic: boolean;
  readonly items: ItemRule | undefined;
  readonly isAlwaysPresent: boolean;
  readonly value: undefined;

  constructor(kind: string, parent: BuiltInType | undefined, name: string, isItem = false) {
    this.#kind = kind;
    this.#name = name;
    this.#isItem = isItem;
    this.isAtomic = isItem ? ATOMIC_ITEMS.has(name) : ATOMIC.has(name) || name === NODE_SELECTOR;
    const place = parent === undefined ? '' : parent.#isItem ? 'item' : parent.#name;
    const isOnce = name !== 'conditions' || !ATOMIC_CONDITIONS.has(kind);
    this.items = isItem || !isOnce ? undefined : LISTS.get(`${place}.${name}`);
    this.isAlwaysPresent = !isItem && BY_VALUE.has(name) && (parent === undefined || parent.#isByValue);
  }

  get #isByValue(): boolean {
    return this.#name === 'root' || this.isAlwaysPresent;
  }

  get item(): FieldType {
    this.#item ??= new BuiltInType(this.#kind, this, this.#name, true);
    return this.#item;
  }

  member(name: string): FieldType {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const type = new BuiltInType(this.#kind, this, name);
    // Names of labels and data are many, but share the same type.
    if (this.#members.size < MEMBERS_MAX) this.#members.set(name, type);
    return type;
  }

  names(): boolean {
    return true;
  }
}

const MEMBERS_MAX = 64;
const builtIn = new Map<string, FieldType>();

export function builtInType(kind: string): FieldType {
  const known = builtIn.get(kind);
  if (known !== undefined) return known;
  const type = new BuiltInType(kind, undefined, 'root');
  builtIn.set(kind, type);
  return type;
}

const SCALARS: Readonly<Record<string, FieldType['value']>> = {
  object: 'map',
  array: 'list',
  string: 'string',
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
};

/** A node of the schema of a custom resource. */
class SchemaType implements FieldType {
  readonly #node: JsonObject;
  readonly #members = new Map<string, FieldType | undefined>();
  #item: FieldType | undefined;
  readonly isAtomic: boolean;
  readonly items: ItemRule | undefined;
  readonly value: FieldType['value'];
  readonly isAlwaysPresent = false;

  constructor(node: JsonObject, isRoot: boolean) {
    this.#node = node;
    this.isAtomic = node['x-kubernetes-map-type'] === 'atomic';
    this.items = ruleOf(node);
    this.value = typeof node['type'] === 'string' ? SCALARS[node['type']] : undefined;
    if (isRoot || node[EMBEDDED] === true) {
      for (const name of ['apiVersion', 'kind']) this.#members.set(name, UNTYPED);
      this.#members.set('metadata', builtInType('').member('metadata'));
    }
  }

  get item(): FieldType {
    const { items } = this.#node;
    this.#item ??= isJsonObject(items) ? new SchemaType(items, false) : UNTYPED;
    return this.#item;
  }

  member(name: string): FieldType | undefined {
    if (this.#members.has(name)) return this.#members.get(name);
    const { properties, additionalProperties } = this.#node;
    const property = memberOf(properties, name);
    if (isJsonObject(property)) {
      const type = new SchemaType(property, false);
      this.#members.set(name, type);
      return type;
    }
    if (isJsonObject(additionalProperties)) {
      const type = new SchemaType(additionalProperties, false);
      return type;
    }
    const isOpen = additionalProperties === true || this.#node[PRESERVE] === true;
    return isOpen || this.value === undefined ? UNTYPED : undefined;
  }

  names(name: string): boolean {
    return this.#members.has(name) || memberOf(this.#node['properties'], name) !== undefined;
  }
}

function ruleOf(node: JsonObject): ItemRule | undefined {
  switch (node['x-kubernetes-list-type']) {
    case 'set':
      return SET;
    case 'map': {
      const keys = node['x-kubernetes-list-map-keys'];
      const properties = memberOf(node['items'], 'properties');
      const names = Array.isArray(keys) ? keys.map(String) : [];
      const defaults = names.map((name) => [name, memberOf(memberOf(properties, name), 'default')] as const);
      return { form: 'map', keys: names, defaults: Object.fromEntries(defaults) };
    }
    default:
      return undefined;
  }
}

/** Returns the type of the objects of a structural schema. */
export function schemaType(root: JsonObject): FieldType {
  return new SchemaType(root, true);
}

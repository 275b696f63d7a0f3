/**
 * An immutable set of fields, as a tree. An element of a path is text in the form of `fieldsV1`:
 *
 *   f:replicas                    a member of an object
 *   k:{"name":"main"}             an item of a list with keys
 *   v:"example.com/finalizer"     a value of a list that is a set
 *
 * A node can be a member of the set itself, and contain members.
 */

import { isJsonObject, isNumber, writeJson } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { readJson } from '../store/read-json.ts';

/** Elements from the root of an object. */
export type FieldPath = readonly string[];

export interface FieldNode {
  readonly isMember: boolean;
  readonly inside: FieldSet;
}

/** A node while a set is built. */
interface Branch {
  isMember: boolean;
  readonly inside: Map<string, Branch>;
}

const SELF = '.';
const ELEMENT = /^[fkvi]:/;

export class FieldSet {
  readonly #nodes: ReadonlyMap<string, FieldNode>;

  /** Use `of` or `parse`. */
  constructor(nodes: ReadonlyMap<string, FieldNode>) {
    this.#nodes = nodes;
  }

  static of(paths: Iterable<FieldPath>): FieldSet {
    const root: Branch = { isMember: false, inside: new Map() };
    for (const path of paths) {
      let branch = root;
      for (const element of path) {
        const next = branch.inside.get(element) ?? { isMember: false, inside: new Map<string, Branch>() };
        branch.inside.set(element, next);
        branch = next;
      }
      branch.isMember = true;
    }
    return grown(root);
  }

  /** Reads a `fieldsV1`; undefined if an element omits the type. Elements of an unknown type are left out. */
  static parse(fieldsV1: JsonObject): FieldSet | undefined {
    const nodes = new Map<string, FieldNode>();
    for (const [element, value] of Object.entries(fieldsV1)) {
      if (element === SELF) continue;
      if (element[1] !== ':' || !isJsonObject(value)) return undefined;
      const inside = FieldSet.parse(value);
      if (inside === undefined) return undefined;
      if (!ELEMENT.test(element)) continue;
      nodes.set(element, { isMember: inside.isEmpty || value[SELF] !== undefined, inside });
    }
    return new FieldSet(nodes);
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  has(element: string): boolean {
    return this.#nodes.get(element)?.isMember === true;
  }

  /** Returns the set below an element. */
  under(element: string): FieldSet {
    return this.#nodes.get(element)?.inside ?? NO_FIELDS;
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other;
    if (other.isEmpty) return this;
    const elements = new Set([...this.#nodes.keys(), ...other.#nodes.keys()]);
    return this.#combined(
      elements,
      other,
      (one, two) => one || two,
      (one, two) => one.union(two),
    );
  }

  intersection(other: FieldSet): FieldSet {
    return this.#combined(
      this.#nodes.keys(),
      other,
      (one, two) => one && two,
      (one, two) => one.intersection(two),
    );
  }

  /**
   * Returns the members that are not in the other set. A member of the other set does not remove the members below it.
   */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return this.#combined(
      this.#nodes.keys(),
      other,
      (one, two) => one && !two,
      (one, two) => one.difference(two),
    );
  }

  /** Returns the set without a member of the root and everything below it. */
  without(element: string): FieldSet {
    return new FieldSet(new Map([...this.#nodes].filter(([name]) => name !== element)));
  }

  /** Returns only the members at or below an element of the root. */
  only(element: string): FieldSet {
    return new FieldSet(new Map([...this.#nodes].filter(([name]) => name === element)));
  }

  /** Adds every element that contains members and for which `isNamed` holds; `descend` returns the test for an element. */
  withParents<T>(
    context: T,
    isNamed: (context: T, element: string) => boolean,
    descend: (context: T, element: string) => T,
  ): FieldSet {
    const nodes = [...this.#nodes].map(([element, { isMember, inside }]): [string, FieldNode] => [
      element,
      {
        isMember: isMember || isNamed(context, element),
        inside: inside.isEmpty ? inside : inside.withParents(descend(context, element), isNamed, descend),
      },
    ]);
    return new FieldSet(new Map(nodes));
  }

  /**
   * Members as apimachinery prints them, such as `.spec.containers[name="main"].image`: each level before the levels
   * below.
   */
  texts(prefix = ''): string[] {
    const nodes = this.#sorted();
    return [
      ...nodes
        .filter(([, { isMember }]) => isMember)
        .map(([element]) => `${prefix}${textOfElement(element)}`),
      ...nodes.flatMap(([element, { inside }]) => inside.texts(`${prefix}${textOfElement(element)}`)),
    ];
  }

  toFieldsV1(): JsonObject {
    const members = this.#sorted().map(([element, { isMember, inside }]): [string, JsonObject] => [
      element,
      isMember && !inside.isEmpty ? { [SELF]: {}, ...inside.toFieldsV1() } : inside.toFieldsV1(),
    ]);
    return Object.fromEntries(members);
  }

  #sorted(): [string, FieldNode][] {
    return [...this.#nodes].toSorted(([one], [other]) => compareElements(one, other));
  }

  #combined(
    elements: Iterable<string>,
    other: FieldSet,
    isMember: (one: boolean, two: boolean) => boolean,
    inside: (one: FieldSet, two: FieldSet) => FieldSet,
  ): FieldSet {
    const nodes = new Map<string, FieldNode>();
    for (const element of elements) {
      const [one, two] = [this.#nodes.get(element), other.#nodes.get(element)];
      const node = {
        isMember: isMember(one?.isMember === true, two?.isMember === true),
        inside: inside(one?.inside ?? NO_FIELDS, two?.inside ?? NO_FIELDS),
      };
      if (node.isMember || !node.inside.isEmpty) nodes.set(element, node);
    }
    return nodes.size === 0 ? NO_FIELDS : new FieldSet(nodes);
  }
}

export const NO_FIELDS: FieldSet = new FieldSet(new Map());

function grown({ inside }: Branch): FieldSet {
  const nodes = [...inside].map(([element, branch]): [string, FieldNode] => [
    element,
    { isMember: branch.isMember, inside: grown(branch) },
  ]);
  return nodes.length === 0 ? NO_FIELDS : new FieldSet(new Map(nodes));
}

function textOfElement(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k': {
      const keys = readJson(content);
      const pairs = Object.entries(Object(keys) as JsonObject).map(
        ([name, value]) => `${name}=${writeJson(value)}`,
      );
      return `[${pairs.join(',')}]`;
    }
    case 'v':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

const TYPE_ORDER = 'fkvi';

/** Orders elements as apimachinery does: names as text, keys and values by type and value. */
function compareElements(one: string, other: string): number {
  const types = TYPE_ORDER.indexOf(one[0] ?? '') - TYPE_ORDER.indexOf(other[0] ?? '');
  if (types !== 0) return types;
  if (one.startsWith('f:')) return compareText(one, other);
  return compareValues(readJson(one.slice(2)) ?? null, readJson(other.slice(2)) ?? null);
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function compareValues(one: Json, other: Json): number {
  if (isNumber(one) && isNumber(other)) return one < other ? -1 : Number(one > other);
  if (!isJsonObject(one) || !isJsonObject(other)) return compareText(writeJson(one), writeJson(other));
  const others = Object.entries(other);
  for (const [index, [name, value]] of Object.entries(one).entries()) {
    const [otherName = '', otherValue = null] = others[index] ?? [];
    const order = compareText(name, otherName) || compareValues(value ?? null, otherValue);
    if (order !== 0) return order;
  }
  return 0;
}

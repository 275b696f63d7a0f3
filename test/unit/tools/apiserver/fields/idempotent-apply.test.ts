/** Server-side apply with random schemas, managers, configurations and removals: one seed is one history. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../../../src/base/random.ts';
import { StructuralSchema } from '../../../../../src/tools/apiserver/crd/schema.ts';
import type { SchemaNode } from '../../../../../src/tools/apiserver/crd/schema-node.ts';
import {
  NO_MANAGERS,
  afterUpdate,
  applyConfiguration,
  encodeManagers,
} from '../../../../../src/tools/apiserver/fields/managers.ts';
import type {
  Applied,
  ManagerIdentity,
  Managers,
} from '../../../../../src/tools/apiserver/fields/managers.ts';
import { compare, withNamedParents } from '../../../../../src/tools/apiserver/fields/merge.ts';
import type { Json, JsonObject, KubeObject } from '../../../../../src/tools/apiserver/store/json.ts';

const SEEDS = 100;
const STEPS = 20;
const NAMES = ['a', 'b', 'c'];
type Random = () => number;

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function randomSchema(random: Random, depth: number): SchemaNode {
  // An object that becomes empty stays as a null: refused, but kept where the schema allows nulls, as on a cluster.
  const nullable = random() < 0.2 ? { nullable: true } : {};
  const form =
    depth === 0 ? 'text' : pick(random, ['text', 'object', 'object', 'map', 'open', 'set', 'list', 'plain']);
  switch (form) {
    case 'object':
      return { type: 'object', properties: properties(random, depth), ...atomic(random) };
    case 'map':
      return {
        type: 'object',
        additionalProperties: randomSchema(random, depth - 1),
        ...atomic(random),
      };
    case 'open':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    case 'set':
      return { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
    case 'list': {
      const items = {
        type: 'object',
        properties: { ...properties(random, depth - 1), name: { type: 'string' } },
      };
      const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
      return { type: 'array', ...keys, items: { ...items, required: ['name'] } };
    }
    case 'plain':
      return { type: 'array', items: randomSchema(random, depth - 1) };
    default:
      return { type: 'string', ...nullable, ...(random() < 0.4 ? { default: 'd' } : {}) };
  }
}

function atomic(random: Random): object {
  return random() < 0.2 ? { 'x-kubernetes-map-type': 'atomic' } : {};
}

function properties(random: Random, depth: number): Record<string, SchemaNode> {
  return Object.fromEntries(NAMES.map((name) => [name, randomSchema(random, Math.max(depth - 1, 0))]));
}

function randomValue(random: Random, node: SchemaNode): Json {
  if (node.nullable === true && random() < 0.2) return null;
  if (node.type === 'string') return pick(random, NAMES);
  const some = NAMES.filter(() => random() < 0.5);
  if (node.type === 'array') {
    // An empty list of items has no field, so a cluster as well removes and restores such a list by turns.
    if (some.length === 0) some.push('a');
    const { items = {} } = node;
    if (node['x-kubernetes-list-type'] === 'set') return some;
    return some.map((name) => {
      const item = randomValue(random, items);
      return node['x-kubernetes-list-type'] === 'map' ? { ...(item as JsonObject), name } : item;
    });
  }
  const { additionalProperties } = node;
  const inside = (name: string): SchemaNode => {
    const open = typeof additionalProperties === 'object' ? additionalProperties : { type: 'string' };
    return node.properties?.[name] ?? open;
  };
  return Object.fromEntries(some.map((name) => [name, randomValue(random, inside(name))]));
}

/** The object and its managers after a write. */
interface State {
  readonly object: Json;
  readonly managers: Managers;
}

class History {
  readonly #random: Random;
  readonly #root: SchemaNode;
  readonly #schema: StructuralSchema;
  state: State = { object: {}, managers: NO_MANAGERS };

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#root = {
      type: 'object',
      properties: { spec: { type: 'object', properties: properties(this.#random, 4) } },
    };
    this.#schema = new StructuralSchema(this.#root);
  }

  step(): void {
    const config = { spec: randomValue(this.#random, this.#root.properties?.['spec'] ?? {}) };
    const manager = pick(this.#random, NAMES);
    if (this.#random() < 0.2) return this.#update(manager, config);
    const before = this.state;
    const applied = this.#apply(before, manager, config);
    const object = this.#stored(applied.object);
    // A removal that leaves a null in place of an object is refused, as on a cluster.
    if (object === undefined) return;
    this.#checkRemovals(before, manager, applied);
    this.state = { object, managers: applied.managers };
    const again = this.#apply(this.state, manager, config);
    assert.deepEqual(this.#stored(again.object), object);
    assert.deepEqual(encodeManagers(again.managers), encodeManagers(applied.managers));
  }

  #update(manager: string, object: Json): void {
    const stored = this.#stored(object);
    if (stored === undefined) return;
    const managers = afterUpdate(this.state.managers, this.state.object, stored, {
      type: this.#schema.fieldType,
      identity: identityOf(manager, 'Update'),
      time: undefined,
      owned: (fields) => fields,
    });
    this.state = { object: stored, managers };
  }

  #apply({ object, managers }: State, manager: string, config: Json): Applied {
    return applyConfiguration(managers, object, config, {
      type: this.#schema.fieldType,
      identity: identityOf(manager, 'Apply'),
      time: undefined,
      owned: (fields) => fields,
      forced: true,
    });
  }

  /** Returns the object with defaults; undefined if the schema refuses the object. */
  #stored(object: Json): Json | undefined {
    const coerced = this.#schema.coerce(object as KubeObject, false, true);
    return this.#schema.validate(coerced, undefined).length > 0 ? undefined : coerced;
  }

  /** An apply removes only fields at or below those that the manager applied last. Fields of others stay. */
  #checkRemovals({ object, managers }: State, manager: string, applied: Applied): void {
    const type = this.#schema.fieldType;
    const own = [...managers.values()].find((each) => each.manager === manager && each.operation === 'Apply');
    const last = own === undefined ? [] : withNamedParents(own.fields, type).texts();
    const { removed, modified } = compare(object, applied.object, type);
    for (const path of removed.difference(modified).texts()) {
      assert.ok(
        last.some((each) => path.startsWith(each)),
        `${path} was never applied by ${manager}`,
      );
    }
    for (const { fields } of [...managers.values()].filter((each) => each !== own)) {
      const theirs = new Set(withNamedParents(fields, type).texts());
      const entries = removed.texts().filter((path) => !theirs.has(path));
      // The entry of a list or of a map goes with its members if no other manager applied the entry itself.
      for (const path of fields.intersection(removed).texts())
        assert.ok(
          entries.some((entry) => path.startsWith(entry)),
          `${path} belongs to another manager`,
        );
    }
  }
}

function identityOf(manager: string, operation: ManagerIdentity['operation']): ManagerIdentity {
  return { manager, operation, apiVersion: 'example.com/v1', subresource: '' };
}

describe('a random history of applies', () => {
  it('changes nothing at the second apply, and removes only fields that the manager applied', () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const history = new History(seed);
      for (let step = 1; step <= STEPS; step++) {
        try {
          history.step();
        } catch (error) {
          throw new Error(`seed ${seed}, step ${step}: ${JSON.stringify(history.state.object)}`, {
            cause: error,
          });
        }
      }
    }
  });
});

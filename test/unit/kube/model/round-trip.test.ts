/** Tests the way from JSON to client-node's models and back, for every built-in kind and both majors of client-node. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeloomError, createModelConverter } from '../../../../src/index.ts';
import type { ModelConverter } from '../../../../src/index.ts';
import { apiVersionOf } from '../../../../src/kube/resource.ts';
import type { ResourceRef } from '../../../../src/kube/resource.ts';
import { LazyModels } from '../../../../src/kube/model/lazy-models.ts';
import { ModelClasses } from '../../../../src/kube/model/model-classes.ts';
import { builtInResources } from '../../../../src/kube/resources.ts';
import { deepFreeze } from '../../../../src/base/deep-freeze.ts';
import { Seeded } from '../json/seeded.ts';
import { MAJORS } from './majors.ts';
import type { Major } from './majors.ts';

/** Where groups share a kind, the model has the group's name; listed here, not computed. */
const MODELS_OF_SHARED_NAMES: Readonly<Record<string, string>> = {
  'v1 Event': 'CoreV1Event',
  'events.k8s.io/v1 Event': 'EventsV1Event',
  'resource.k8s.io/v1 ResourceClaim': 'ResourceV1ResourceClaim',
};
const SAMPLES_OF_A_KIND = 3;
const RENAMED = [
  '$ref as ref',
  '$schema as schema',
  'default as _default',
  'enum as _enum',
  'from as _from',
  'int as _int',
  'x-kubernetes-embedded-resource as x_kubernetes_embedded_resource',
  'x-kubernetes-int-or-string as x_kubernetes_int_or_string',
  'x-kubernetes-list-map-keys as x_kubernetes_list_map_keys',
  'x-kubernetes-list-type as x_kubernetes_list_type',
  'x-kubernetes-map-type as x_kubernetes_map_type',
  'x-kubernetes-preserve-unknown-fields as x_kubernetes_preserve_unknown_fields',
  'x-kubernetes-validations as x_kubernetes_validations',
];

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Name that API methods pass to their serialiser. */
  readonly model: string;
}

function nameOf({ version, kind, ...ref }: ResourceRef): string {
  const shared = MODELS_OF_SHARED_NAMES[`${apiVersionOf({ ...ref, version })} ${kind}`];
  return shared ?? `${version.charAt(0).toUpperCase()}${version.slice(1)}${kind}`;
}

function kinds(): Kind[] {
  return builtInResources().map((ref) => ({
    apiVersion: apiVersionOf(ref),
    kind: ref.kind,
    model: nameOf(ref),
  }));
}

function modelledKinds(major: Major): Kind[] {
  return kinds().filter(({ model }) => major.attributes(model) !== undefined);
}

for (const major of MAJORS) {
  describe(`with ${major.name}`, () => suite(major));

  test(`every kind of ${major.name} is the same model when its members are converted as they are read`, () => {
    const models = new LazyModels(new ModelClasses(major.clientNode));
    const { toModel, fromModel } = createModelConverter(major.clientNode);
    for (const [index, kind] of modelledKinds(major).entries()) {
      const wire = new Sample(major, 100 * index).object(kind.model, kind as never);
      const lazy = models.of(structuredClone(wire));
      assert.ok(lazy, kind.model);
      const eager = toModel<object>({ object: wire });
      assert.deepEqual(classesIn(lazy), classesIn(eager), kind.model);
      assert.deepEqual(JSON.parse(major.body(lazy, kind.model)), wire, kind.model);
      assert.deepEqual(fromModel(lazy), wire, kind.model);
    }
  });
}

function suite(major: Major): void {
  const converter = createModelConverter(major.clientNode);
  const modelled = modelledKinds(major);

  test('C168 every kind with a model is written as it was read, all its fields set', () => {
    assert.ok(modelled.length >= 65, `only ${modelled.length} kinds have a model`);
    const renamed = new Set<string>();
    const times = new Set<string>();
    for (const [index, kind] of modelled.entries()) {
      for (let seed = 0; seed < SAMPLES_OF_A_KIND; seed++) {
        const sample = new Sample(major, 100 * index + seed);
        roundTrip(major, converter, kind, sample.object(kind.model, kind as never));
        for (const name of sample.renamed) renamed.add(name);
        for (const name of sample.times) times.add(name);
      }
    }
    assert.deepEqual([...renamed].sort(), RENAMED);
    assert.deepEqual([...times].sort(), ['Date', 'V1MicroTime']);
  });

  test('lists are as well, with the continue token of their metadata', () => {
    for (const [apiVersion, kind, model] of [
      ['v1', 'PodList', 'V1PodList'],
      ['v1', 'EventList', 'CoreV1EventList'],
      ['networking.k8s.io/v1', 'NetworkPolicyList', 'V1NetworkPolicyList'],
    ] as const) {
      const sample = new Sample(major, 7);
      roundTrip(major, converter, { apiVersion, kind, model }, sample.object(model, { apiVersion, kind }));
      assert.ok(sample.renamed.has('continue as _continue'));
    }
  });

  test('the same objects lose fields when they are written unconverted, or as client-node itself reads them', () => {
    const lost = { asIs: 0, asRead: 0 };
    for (const [index, kind] of modelled.entries()) {
      const wire = new Sample(major, 100 * index).object(kind.model, kind as never);
      if (!isSame(JSON.parse(major.body(wire, kind.model)), wire)) lost.asIs++;
      if (!isSame(JSON.parse(major.body(major.read(wire, kind.model), kind.model)), wire)) lost.asRead++;
    }
    // Objects with renamed keys: network policies, limit ranges, schemas, devices.
    assert.ok(lost.asIs >= 5, `only ${lost.asIs}`);
    assert.equal(lost.asRead, modelled.length);
  });

  test("an object that client-node itself has read is converted to the server's form", () => {
    for (const [index, kind] of modelled.entries()) {
      const wire = new Sample(major, 100 * index).object(kind.model, kind as never);
      assert.deepEqual(converter.fromModel(major.read(wire, kind.model)), wire, kind.model);
    }
  });

  test('kinds without a model in client-node are rejected', () => {
    const others = kinds().filter(({ model }) => major.attributes(model) === undefined);
    assert.ok(others.length > 0);
    for (const { apiVersion, kind } of others) {
      assert.throws(
        () => converter.toModel({ apiVersion, kind } as never),
        isNoModel,
        `${apiVersion} ${kind}`,
      );
    }
  });
}

function roundTrip(
  major: Major,
  { toModel, fromModel }: ModelConverter,
  { model: type }: Kind,
  wire: Record<string, unknown>,
): void {
  // Frozen as in the cache: it is read-only, and the model must share nothing with it.
  const cached: Record<string, unknown> = structuredClone(wire);
  deepFreeze(cached);
  const model = toModel<object>({ object: cached });
  assert.equal(model.constructor.name, type);
  assert.ok(!sharesWith(model, objectsWithin(cached)), `${type} shares something with the cache`);
  assert.deepEqual(JSON.parse(major.body(model, type)), wire, type);
  assert.deepEqual(fromModel(model), wire, type);
}

/** Returns the classes of a model's members, with the bases of unnamed classes, which keep the text of times. */
function classesIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(classesIn);
  const { name } = value.constructor;
  if (value instanceof Date) return [Object.getPrototypeOf(value.constructor), value.toJSON()];
  return [name, Object.fromEntries(Object.entries(value).map(([key, member]) => [key, classesIn(member)]))];
}

function isNoModel(error: unknown): boolean {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NO_MODEL';
}

function isSame(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

function objectsWithin(value: unknown, found: Set<unknown> = new Set()): ReadonlySet<unknown> {
  if (typeof value !== 'object' || value === null) return found;
  found.add(value);
  for (const field of Object.values(value)) objectsWithin(field, found);
  return found;
}

function sharesWith(model: unknown, others: ReadonlySet<unknown>): boolean {
  return [...objectsWithin(model)].some((object) => others.has(object));
}

/** Maximum nesting of one model within itself: a schema contains schemas. */
const NESTED_MAX = 2;
const KEYS = ['app.kubernetes.io/name', 'from', '_from', 'default', 'x-kubernetes-map-type', '$ref', 'ref'];

/**
 * Objects in JSON form with every field of a model set, to a bounded depth, from a seed. Made from client-node's
 * own description of its models, not from kubeloom's.
 */
class Sample {
  readonly #major: Major;
  readonly #seeded: Seeded;
  readonly #within: string[] = [];
  /** Keys that the models renamed so far, as `default as _default`. */
  readonly renamed: Set<string> = new Set();
  readonly times: Set<string> = new Set();

  constructor(major: Major, seed: number) {
    this.#major = major;
    this.#seeded = new Seeded(seed);
  }

  object(model: string, identity: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    this.#within.push(model);
    const result: Record<string, unknown> = {};
    for (const { name, baseName, type, format } of this.#major.attributes(model) ?? []) {
      if (name !== baseName) this.renamed.add(`${baseName} as ${name}`);
      const value = identity[baseName] ?? this.#value(type, format);
      if (value !== undefined) result[baseName] = value;
    }
    this.#within.pop();
    return result;
  }

  #value(type: string, format: string): unknown {
    const [, item] = /^Array<(.*)>$/.exec(type) ?? [];
    if (item !== undefined) return this.#some(1, 3).flatMap(() => this.#value(item, format) ?? []);
    const [, value] = /^\{ \[key: string\]: (.*); \}$/.exec(type) ?? [];
    if (value !== undefined) return this.#map(value, format);
    switch (type) {
      case 'string':
        return format === 'byte' ? Buffer.from(this.#text()).toString('base64') : this.#text();
      case 'boolean':
        return this.#seeded.chance(0.5);
      case 'number':
        return format === 'double' ? this.#seeded.next() * 1000 : this.#seeded.below(1e9);
      case 'IntOrString':
        return this.#seeded.chance(0.5) ? this.#seeded.below(65_536) : this.#text();
      case 'Date':
      case 'V1MicroTime':
        this.times.add(type);
        return this.#time(type === 'Date' ? '' : `.${String(this.#seeded.below(1e6)).padStart(6, '0')}`);
      case 'any':
        return this.#json(2);
      default:
        return this.#model(type);
    }
  }

  #model(type: string): unknown {
    if (this.#major.attributes(type) === undefined) throw new Error(`no sample for the type ${type}`);
    return this.#within.filter((name) => name === type).length < NESTED_MAX ? this.object(type) : undefined;
  }

  #map(type: string, format: string): Record<string, unknown> {
    const keys = this.#seeded.shuffle(KEYS).slice(0, 1 + this.#seeded.below(2));
    const entries = keys.map((key) => [key, this.#value(type, format)]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, unknown>;
  }

  #json(depth: number): unknown {
    const choices = [
      () => null,
      () => this.#text(),
      () => this.#seeded.below(100),
      () => this.#time(''),
      () => this.#some(0, 2).map(() => this.#json(depth - 1)),
      () =>
        Object.fromEntries(KEYS.slice(0, this.#seeded.below(4)).map((key) => [key, this.#json(depth - 1)])),
    ];
    return this.#seeded.pick(depth > 0 ? choices : choices.slice(0, 4))();
  }

  #time(fraction: string): string {
    const time = new Date(Date.UTC(2024, 0, 1) + 1000 * this.#seeded.below(5e7));
    return time.toISOString().replace('.000', fraction);
  }

  #text(): string {
    return (
      this.#seeded.pick(['', 'web-0', '2024-05-06T07:08:09Z', 'ß\u{1f600}', '100m']) + this.#seeded.below(10)
    );
  }

  #some(least: number, most: number): readonly undefined[] {
    return Array.from({ length: least + this.#seeded.below(most - least + 1) }, () => undefined);
  }
}

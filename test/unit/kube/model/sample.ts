/**
 * Objects in JSON form with every field of a model set, to a bounded depth, from a seed. Made from client-node's
 * own description of its models, not from kubeloom's.
 */
import { Seeded } from '../json/seeded.ts';
import type { Major } from './majors.ts';

/** Maximum nesting of one model within itself: a schema contains schemas. */
const NESTED_MAX = 2;
const KEYS = ['app.kubernetes.io/name', 'from', '_from', 'default', 'x-kubernetes-map-type', '$ref', 'ref'];

export class Sample {
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

/**
 * client-node's models whose members are converted when they are read: most callers read a few of a hundred members.
 *
 * ```
 *  V1Pod { kind: 'Pod', metadata: ·, spec: ·, status: · }     · an accessor
 *                                               │ read
 *                        V1PodStatus { phase: 'Running', conditions: · }
 * ```
 *
 * A member whose type differs from the JSON is an own accessor, which keeps the value; all other members are values. So
 * equality, clones, spread, JSON and `console.log` see an ordinary model, and `getOwnPropertyDescriptor` sees the accessor.
 */
import { inspect } from 'node:util';
import { INSPECT_VALUES } from '../../base/inspect-as.ts';
import { isJsonObject } from './model-classes.ts';
import type { Attribute, JsonObject, Model, ModelClasses, Shape } from './model-classes.ts';
import { textKeeping } from './times.ts';

/** Returns the value of a member, converted at the first read. */
type ReadMember = (key: string, convert: (json: unknown) => unknown) => unknown;

/** A hidden member of a model. It is a member and a function, because accessors are called on proxies, which have no private field. */
const READ = Symbol('read');

function readOnce(json: JsonObject): ReadMember {
  const read: Record<string, unknown> = {};
  return (key, convert) => (read[key] ??= convert(json[key]));
}

interface LazyAttribute {
  readonly key: string;
  /** undefined: the model has the value of the JSON. */
  readonly accessor: PropertyDescriptor | undefined;
}

interface LazyModel {
  readonly create: () => Record<string, unknown>;
  readonly attributes: ReadonlyMap<string, LazyAttribute>;
}

export class LazyModels {
  readonly #classes: ModelClasses;
  readonly #models: Map<string, LazyModel> = new Map();
  readonly #Time: new (text: string) => Date = textKeeping(Date);
  readonly #MicroTime: new (text: string) => Date;

  constructor(classes: ModelClasses) {
    this.#classes = classes;
    this.#MicroTime = textKeeping(classes.microTime);
  }

  /**
   * Returns the model of an object, without the fields that client-node does not know. The model takes over the object.
   *
   * @returns undefined when client-node has no model of the kind
   */
  of(json: object): object | undefined {
    const { apiVersion, kind } = json as JsonObject;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
    const model = this.#classes.ofKind(apiVersion, kind);
    return model && this.#create(model, json as JsonObject);
  }

  #create(model: Model, json: JsonObject): object {
    const { create, attributes } = this.#lazy(model);
    const instance = create();
    let isLazy = false;
    for (const key of Object.keys(json)) {
      const attribute = attributes.get(key);
      if (attribute?.accessor) {
        isLazy = true;
        Object.defineProperty(instance, attribute.key, attribute.accessor);
      } else if (attribute) {
        instance[attribute.key] = json[key];
      }
    }
    if (!isLazy) return instance;
    Object.defineProperty(instance, READ, { value: readOnce(json), configurable: true });
    Object.defineProperty(instance, inspect.custom, INSPECT_VALUES);
    return instance;
  }

  /** Returns the value in a model. A value of another shape than the model's stays as it is. */
  #convert(shape: Shape, value: unknown): unknown {
    switch (shape.is) {
      case 'same':
        return value;
      case 'time':
        return typeof value === 'string' ? new this.#Time(value) : value;
      case 'micro-time':
        return typeof value === 'string' ? new this.#MicroTime(value) : value;
      case 'list':
        return Array.isArray(value) ? value.map((item) => this.#convert(shape.of, item)) : value;
      case 'map':
        return isJsonObject(value) ? mapped(value, (member) => this.#convert(shape.of, member)) : value;
      default: {
        const model = this.#classes.named(shape.name);
        return model && isJsonObject(value) ? this.#create(model, value) : value;
      }
    }
  }

  #lazy(model: Model): LazyModel {
    const known = this.#models.get(model.name);
    if (known) return known;
    const attributes = new Map<string, LazyAttribute>();
    for (const [wireKey, attribute] of model.byWireKey)
      attributes.set(wireKey, this.#attribute(wireKey, attribute));
    const lazy = { create: model.create, attributes };
    this.#models.set(model.name, lazy);
    return lazy;
  }

  #attribute(wireKey: string, { key, shape }: Attribute): LazyAttribute {
    if (!isConverted(shape)) return { key, accessor: undefined };
    const convert = (json: unknown): unknown => this.#convert(shape, json);
    const accessor: PropertyDescriptor & ThisType<{ readonly [READ]?: ReadMember }> = {
      get() {
        return this[READ]?.(wireKey, convert);
      },
      set(value: unknown) {
        Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
      },
      enumerable: true,
      configurable: true,
    };
    return { key, accessor };
  }
}

function mapped(map: JsonObject, convert: (member: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([key, member]) => [key, convert(member)]));
}

function isConverted(shape: Shape): boolean {
  return shape.is === 'list' || shape.is === 'map' ? isConverted(shape.of) : shape.is !== 'same';
}

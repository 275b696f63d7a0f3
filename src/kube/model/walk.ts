/**
 * One pass over one object, from JSON to a model or back. It creates a new deep copy, and collects the path of
 * every field that client-node would leave out when it writes.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { Attribute, Model, ModelClasses, Shape } from './model-classes.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Differences between the two directions. */
export interface Direction {
  readonly attributes: (model: Model) => ReadonlyMap<string, Attribute>;
  readonly keyOf: (attribute: Attribute) => string;
  readonly create: (model: Model) => Record<string, unknown>;
  readonly time: (value: unknown) => unknown;
  readonly microTime: (value: unknown) => unknown;
}

/** A valid key in JSON; an assignment to it would set the prototype, as client-node does. */
const PROTOTYPE_KEY = '__proto__';

export class Walk {
  readonly #classes: ModelClasses;
  readonly #direction: Direction;
  readonly #path: (string | number)[] = [];
  readonly #lost: string[] = [];

  constructor(classes: ModelClasses, direction: Direction) {
    this.#classes = classes;
    this.#direction = direction;
  }

  /** Paths of the fields that the models do not have. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  object(model: Model, value: unknown): Record<string, unknown> {
    if (!isObject(value)) throw this.#mismatch('an object', value);
    const { attributes, create, keyOf } = this.#direction;
    const known = attributes(model);
    const result = create(model);
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      const attribute = known.get(key);
      this.#path.push(key);
      if (attribute) result[keyOf(attribute)] = this.#value(attribute.shape, field);
      else this.#lose();
      this.#path.pop();
    }
    return result;
  }

  #value(shape: Shape, value: unknown): unknown {
    if (value === undefined || value === null) return value;
    switch (shape.is) {
      case 'same':
        return typeof value === 'object' ? structuredClone(value) : value;
      case 'time':
        return this.#direction.time(value);
      case 'micro-time':
        return this.#direction.microTime(value);
      case 'list':
        return this.#list(shape.of, value);
      case 'map':
        return this.#map(shape.of, value);
      default:
        return this.object(this.#modelNamed(shape.name), value);
    }
  }

  #list(shape: Shape, value: unknown): unknown[] {
    if (!Array.isArray(value)) throw this.#mismatch('a list', value);
    return value.map((item, index) => {
      this.#path.push(index);
      const converted = this.#value(shape, item);
      this.#path.pop();
      return converted;
    });
  }

  #map(shape: Shape, value: unknown): Record<string, unknown> {
    if (!isObject(value)) throw this.#mismatch('an object', value);
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      this.#path.push(key);
      if (key === PROTOTYPE_KEY) this.#lose();
      else result[key] = this.#value(shape, item);
      this.#path.pop();
    }
    return result;
  }

  #modelNamed(name: string): Model {
    const model = this.#classes.named(name);
    if (!model) throw new KubeloomError('ERR_KUBELOOM_NO_MODEL', `client-node has no model ${name}`);
    return model;
  }

  #lose(): void {
    this.#lost.push(this.#where());
  }

  #mismatch(wanted: string, value: unknown): KubeloomError {
    const found = Array.isArray(value) ? 'a list' : typeof value;
    return new KubeloomError(
      'ERR_KUBELOOM_MODEL_MISMATCH',
      `client-node's model needs ${wanted} at ${this.#where() || 'the top'}, but the object has ${found}`,
    );
  }

  /** Returns the current path: `spec.ingress[0].from`. */
  #where(): string {
    return this.#path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .replace(/^\./, '');
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

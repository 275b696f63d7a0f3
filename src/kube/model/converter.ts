/**
 * Converts the server's JSON to the objects that client-node's API methods take, and back. The serialiser of
 * client-node writes the fields of its models, under the models' own names (`_from`, `x_kubernetes_validations`),
 * and silently leaves out all others. So an object passed on as the server sent it loses fields, and a replace
 * deletes them on the server.
 */
import { anObject, oneOf, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isEntry } from '../meta-shape.ts';
import { isTombstone } from '../tombstone.ts';
import type { Wire } from '../wire-form.ts';
import { ModelClasses, isJsonObject } from './model-classes.ts';
import type { Attribute, JsonObject, Model, Shape } from './model-classes.ts';
import { microTimeText, textKeeping, timeText } from './times.ts';
import { clientNode } from '../client-node.ts';

/** The object itself, or a value that holds it: an entry, borrowed or kept, or a `DeletedFinalStateUnknown`. */
export type WireSource<T> = Wire<T> | { readonly object: Wire<T> };

/** Options of conversions to client-node's models. */
export interface ModelOptions {
  /**
   * Handling of fields that the installed client-node lacks and would not write: mostly those of a newer
   * Kubernetes. Default: `error`.
   */
  readonly onUnknownField?: 'error' | 'ignore';
}

/** `toModel` and `fromModel` for a copy of client-node. */
export interface ModelConverter {
  /**
   * Returns the object as client-node's API methods take it: a private instance of the model, which they write
   * exactly as the server sent it. Times are `Date`s that keep their text until they are changed.
   *
   * @throws ERR_KUBELOOM_UNKNOWN_FIELD naming all fields that would be lost; ERR_KUBELOOM_NO_MODEL for kinds
   *   without a model, custom resources among them, and for an object that does not fit the shape of the model
   */
  readonly toModel: <T>(source: WireSource<T>, options?: ModelOptions) => T;
  /**
   * Returns the JSON form of a model. It needs `kind` and `apiVersion`, which client-node's lists leave out of
   * their items.
   *
   * @throws as `toModel` does; a field is unknown if client-node would not write it
   */
  readonly fromModel: <T extends object>(model: T, options?: ModelOptions) => Wire<T>;
}

/**
 * Returns functions that convert between objects as the server sends them and client-node's models.
 *
 * @param clientNode `import * as clientNode from '@kubernetes/client-node'`, 1.4 or 2
 */
export function createModelConverter(clientNode: object): ModelConverter {
  const classes = new ModelClasses(clientNode);
  const Time = textKeeping(Date);
  const MicroTime = textKeeping(classes.microTime);
  const toModel: Direction = {
    attributes: (model) => model.byWireKey,
    create: (model) => model.create(),
    time: (value) => (typeof value === 'string' ? new Time(value) : value),
    microTime: (value) => (typeof value === 'string' ? new MicroTime(value) : value),
  };
  const fromModel: Direction = {
    attributes: (model) => model.byModelKey,
    create: () => ({}),
    time: (value) => (value instanceof Date ? timeText(value) : value),
    microTime: (value) => (value instanceof Date ? microTimeText(value) : value),
  };
  return {
    toModel<T>(source: WireSource<T>, options: ModelOptions = {}): T {
      return convert(classes, toModel, objectOf(source), options) as T;
    },
    fromModel<T extends object>(model: T, options: ModelOptions = {}): Wire<T> {
      return convert(classes, fromModel, model as JsonObject, options) as Wire<T>;
    },
  };
}

const CHECKS: OptionChecks<ModelOptions> = { onUnknownField: oneOf('error', 'ignore') };

function convert(
  classes: ModelClasses,
  direction: Direction,
  object: JsonObject,
  options: ModelOptions,
): Record<string, unknown> {
  anObject('a model', object);
  checkOptions('options of a conversion', options, CHECKS);
  const { onUnknownField = 'error' } = options;
  const model = modelOf(classes, object);
  const walk = new Walk(classes, direction);
  const converted = walkedWithin(() => walk.object(model, object), model);
  if (walk.lost.length > 0 && onUnknownField === 'error') throw lossError(model, walk.lost);
  return converted;
}

/** Runs a walk, which has the object's depth: an apiserver stores up to 10,000 levels. */
function walkedWithin<R>(walk: () => R, { name }: Model): R {
  try {
    return walk();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `the object is nested too deep for a model of ${name}: use the object in its JSON form`;
    throw new KubeloomError('ERR_KUBELOOM_NO_MODEL', message, { cause });
  }
}

/** Returns the object. A value that holds an object is an entry, a tombstone, or lacks every field of an object. */
function objectOf(source: unknown): JsonObject {
  if (typeof source !== 'object' || source === null) {
    const message = `expected an object or an entry, got ${source === null ? 'null' : typeof source}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  if (isEntry(source) || isTombstone(source)) return objectOf(Reflect.get(source, 'object'));
  const own = source as JsonObject;
  const isHolder = ['apiVersion', 'kind', 'metadata'].every((member) => own[member] === undefined);
  return isHolder && own['object'] !== undefined ? objectOf(own['object']) : own;
}

function modelOf(classes: ModelClasses, { apiVersion, kind }: JsonObject): Model {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    const message = 'an object without kind and apiVersion has no model: set both';
    throw new KubeloomError('ERR_KUBELOOM_NO_MODEL', message);
  }
  const model = classes.ofKind(apiVersion, kind);
  if (model) return model;
  throw new KubeloomError(
    'ERR_KUBELOOM_NO_MODEL',
    `client-node has no model for ${apiVersion} ${kind}. Its CustomObjectsApi writes objects in their JSON form: ` +
      'pass it copy()',
  );
}

function lossError(model: Model, lost: readonly string[]): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_UNKNOWN_FIELD',
    `${model.name} of the installed client-node has no place for ${lost.join(', ')}: its API methods would leave ` +
      'that out, and a replace would delete it on the server. Patch the object, write it as it is (see ' +
      "docs/migrating-from-client-node.md), update client-node, or pass { onUnknownField: 'ignore' }",
  );
}

/** The converter for the client-node that is installed with kubeloom, created on first use. */
let installed: ModelConverter | undefined;

/** See {@link ModelConverter.toModel}. */
export function toModel<T>(source: WireSource<T>, options?: ModelOptions): T {
  installed ??= createModelConverter(clientNode());
  return installed.toModel<T>(source, options);
}

/** See {@link ModelConverter.fromModel}. */
export function fromModel<T extends object>(model: T, options?: ModelOptions): Wire<T> {
  installed ??= createModelConverter(clientNode());
  return installed.fromModel(model, options);
}

/** Differences between the two directions. */
interface Direction {
  readonly attributes: (model: Model) => ReadonlyMap<string, Attribute>;
  readonly create: (model: Model) => Record<string, unknown>;
  readonly time: (value: unknown) => unknown;
  readonly microTime: (value: unknown) => unknown;
}

/** A valid key in JSON; an assignment to it would set the prototype, as client-node does. */
const PROTOTYPE_KEY = '__proto__';

/**
 * One pass over an object, from JSON to a model or back. It creates a new deep copy, and collects the path of
 * every field that client-node would leave out when it writes.
 */
class Walk {
  readonly #classes: ModelClasses;
  readonly #direction: Direction;
  readonly #path: (string | number)[] = [];
  /** Paths of the fields that the models do not have. */
  readonly lost: string[] = [];

  constructor(classes: ModelClasses, direction: Direction) {
    this.#classes = classes;
    this.#direction = direction;
  }

  object(model: Model, value: unknown): Record<string, unknown> {
    if (!isJsonObject(value)) throw this.#mismatch('an object', value);
    const { attributes, create } = this.#direction;
    const known = attributes(model);
    const result = create(model);
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      const attribute = known.get(key);
      this.#path.push(key);
      if (attribute) result[attribute.key] = this.#value(attribute.shape, field);
      else this.lost.push(this.#where());
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
    if (!isJsonObject(value)) throw this.#mismatch('an object', value);
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      this.#path.push(key);
      if (key === PROTOTYPE_KEY) this.lost.push(this.#where());
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

  #mismatch(wanted: string, value: unknown): KubeloomError {
    const found = Array.isArray(value) ? 'a list' : typeof value;
    return new KubeloomError(
      'ERR_KUBELOOM_NO_MODEL',
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

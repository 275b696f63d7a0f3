/**
 * The model classes of @kubernetes/client-node, found by name in the given version. Their attribute maps are read
 * into shapes once each.
 */
import { KubeloomError } from '../../base/errors.ts';
import { BUILT_IN_GROUPS } from '../resources.ts';

/** Difference between a value in JSON and in a model. */
export type Shape =
  /** No difference: text, numbers, any JSON. */
  | { readonly is: 'same' }
  | { readonly is: 'time' }
  | { readonly is: 'micro-time' }
  | { readonly is: 'list'; readonly of: Shape }
  | { readonly is: 'map'; readonly of: Shape }
  | { readonly is: 'model'; readonly name: string };

/** The key and the shape on the other side. */
export interface Attribute {
  readonly key: string;
  readonly shape: Shape;
}

export interface Model {
  readonly name: string;
  readonly byWireKey: ReadonlyMap<string, Attribute>;
  readonly byModelKey: ReadonlyMap<string, Attribute>;
  readonly create: () => Record<string, unknown>;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type TimeClass = new (text: string) => Date;

/** A model class as client-node's generator writes it. */
interface ModelClass {
  new (): Record<string, unknown>;
  getAttributeTypeMap(): readonly {
    readonly name: string;
    readonly baseName: string;
    readonly type: string;
  }[];
}

const SAME: Shape = { is: 'same' };
const TIME: Shape = { is: 'time' };
const MICRO_TIME: Shape = { is: 'micro-time' };
const MICRO_TIME_CLASS = 'V1MicroTime';

export class ModelClasses {
  /** client-node's class for times with microseconds. */
  readonly microTime: TimeClass;
  readonly #module: Readonly<Record<string, unknown>>;
  readonly #models: Map<string, Model> = new Map();
  /** By apiVersion and kind. */
  readonly #ofKinds: Map<string, Map<string, Model>> = new Map();

  /** @throws ERR_KUBELOOM_OPTION for a value that is not the namespace of @kubernetes/client-node */
  constructor(clientNode: object) {
    this.#module = { ...clientNode };
    if (this.#classNamed('V1ObjectMeta') === undefined) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OPTION',
        "these are not the models of @kubernetes/client-node: pass the namespace of `import * as k8s from '@kubernetes/client-node'`",
      );
    }
    const microTime = this.#module[MICRO_TIME_CLASS];
    this.microTime = typeof microTime === 'function' ? (microTime as TimeClass) : Date;
  }

  named(name: string): Model | undefined {
    const known = this.#models.get(name);
    if (known) return known;
    const modelClass = this.#classNamed(name);
    if (!modelClass) return undefined;
    const model = this.#read(name, modelClass);
    this.#models.set(name, model);
    return model;
  }

  /** Returns the model of a built-in kind. It checks the group: a custom resource may be called Pod as well. */
  ofKind(apiVersion: string, kind: string): Model | undefined {
    const known = this.#ofKinds.get(apiVersion)?.get(kind);
    if (known) return known;
    const model = modelNames(apiVersion, kind)
      .map((name) => this.named(name))
      .find((each) => each?.byWireKey.has('apiVersion'));
    if (!model) return undefined;
    const kinds = this.#ofKinds.get(apiVersion) ?? new Map<string, Model>();
    this.#ofKinds.set(apiVersion, kinds.set(kind, model));
    return model;
  }

  #classNamed(name: string): ModelClass | undefined {
    const found = this.#module[name];
    return typeof found === 'function' && 'getAttributeTypeMap' in found ? (found as ModelClass) : undefined;
  }

  #read(name: string, ModelClass: ModelClass): Model {
    const byWireKey = new Map<string, Attribute>();
    const byModelKey = new Map<string, Attribute>();
    for (const { name: modelKey, baseName: wireKey, type } of ModelClass.getAttributeTypeMap()) {
      const shape = this.#shapeOf(type);
      byWireKey.set(wireKey, { key: modelKey, shape });
      byModelKey.set(modelKey, { key: wireKey, shape });
    }
    return { name, byWireKey, byModelKey, create: () => new ModelClass() };
  }

  /** Returns the shape for a type in the generator's notation: `Array<V1Pod>`, `{ [key: string]: Date; }`. */
  #shapeOf(type: string): Shape {
    const [, item] = /^Array<(.*)>$/.exec(type) ?? [];
    if (item !== undefined) return { is: 'list', of: this.#shapeOf(item) };
    const [, value] = /^\{ \[key: string\]: (.*); \}$/.exec(type) ?? [];
    if (value !== undefined) return { is: 'map', of: this.#shapeOf(value) };
    if (type === 'Date') return TIME;
    if (type === MICRO_TIME_CLASS) return MICRO_TIME;
    return this.#classNamed(type) ? { is: 'model', name: type } : SAME;
  }
}

/**
 * Names to try, with the group first: models carry the group where two groups have a kind of the same name and version.
 */
function modelNames(apiVersion: string, kind: string): string[] {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const builtIn = Object.entries(BUILT_IN_GROUPS).find(([, { group: name }]) => name === group);
  if (!builtIn) return [];
  const versioned = capitalized(version) + kind;
  return [capitalized(builtIn[0]) + versioned, versioned];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

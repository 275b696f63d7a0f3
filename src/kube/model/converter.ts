/**
 * Converts the server's JSON to the objects that client-node's API methods take, and back. The serialiser of
 * client-node writes the fields of its models, under the models' own names (`_from`, `x_kubernetes_validations`),
 * and silently leaves out all others. So an object passed on as the server sent it loses fields, and a replace
 * deletes them on the server.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { Wire } from '../wire.ts';
import { microTimeText, textKeeping, timeText } from './kept-text.ts';
import { ModelClasses } from './model-classes.ts';
import type { Model } from './model-classes.ts';
import { Walk } from './walk.ts';
import type { Direction, JsonObject } from './walk.ts';
import { clientNode } from '../client-node.ts';

/** The object itself, or a value that holds it: an entry, borrowed or kept, or a `DeletedFinalStateUnknown`. */
export type WireSource<T> = Wire<T> | { readonly object: Wire<T> };

export interface ModelOptions {
  /**
   * Handling of fields that the installed client-node lacks and would not write: mostly those of a newer
   * Kubernetes. Default: `error`.
   */
  readonly onUnknownField?: 'error' | 'ignore';
}

/** `toModel` and `fromModel` for one copy of client-node. */
export interface ModelConverter {
  /**
   * Returns the object as client-node's API methods take it: a private instance of its model, which they write
   * exactly as the server sent it. Times are `Date`s that keep their text until they are changed.
   *
   * @throws ERR_KUBELOOM_UNKNOWN_FIELD naming all fields that would be lost; ERR_KUBELOOM_NO_MODEL for kinds
   *   without a model, custom resources among them; ERR_KUBELOOM_MODEL_MISMATCH
   */
  readonly toModel: <T>(source: WireSource<T>, options?: ModelOptions) => T;
  /**
   * Returns the JSON form of a model. It needs `kind` and `apiVersion`, which client-node's lists leave out of
   * their items.
   *
   * @throws as `toModel` does; an unknown field is one that client-node would not write
   */
  readonly fromModel: <T extends object>(model: T, options?: ModelOptions) => Wire<T>;
}

/** @param clientNode `import * as clientNode from '@kubernetes/client-node'`, 1.4 or 2 */
export function createModelConverter(clientNode: object): ModelConverter {
  const classes = new ModelClasses(clientNode);
  const Time = textKeeping(Date);
  const MicroTime = textKeeping(classes.microTime);
  const toModel: Direction = {
    attributes: (model) => model.byWireKey,
    keyOf: (attribute) => attribute.modelKey,
    create: (model) => model.create(),
    time: (value) => (typeof value === 'string' ? new Time(value) : value),
    microTime: (value) => (typeof value === 'string' ? new MicroTime(value) : value),
  };
  const fromModel: Direction = {
    attributes: (model) => model.byModelKey,
    keyOf: (attribute) => attribute.wireKey,
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

function convert(
  classes: ModelClasses,
  direction: Direction,
  object: JsonObject,
  { onUnknownField = 'error' }: ModelOptions,
): Record<string, unknown> {
  if (onUnknownField !== 'error' && onUnknownField !== 'ignore') {
    const message = `onUnknownField must be 'error' or 'ignore', got ${String(onUnknownField)}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  const model = modelOf(classes, object);
  const walk = new Walk(classes, direction);
  const converted = walk.object(model, object);
  if (walk.lost.length > 0 && onUnknownField === 'error') throw lossError(model, walk.lost);
  return converted;
}

/** Returns the object. An object has a kind; a value that holds an object has none. */
function objectOf(source: unknown): JsonObject {
  if (typeof source !== 'object' || source === null) {
    const message = `expected an object or an entry, got ${source === null ? 'null' : typeof source}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  if (!('apiVersion' in source) && 'object' in source) return objectOf(source.object);
  return source as JsonObject;
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

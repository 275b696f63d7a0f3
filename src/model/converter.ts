/**
 * From the JSON of the wire to the objects that client-node's API methods take, and back. Their serialiser
 * writes what its models know, under the models' own names for it (`_from`, `x_kubernetes_validations`), and
 * leaves out everything else without a word: an object that is given to it as the server sent it loses fields,
 * and a replace deletes them on the server.
 */
import { KubeloomError } from '../errors.ts';
import type { Wire } from '../kube/wire.ts';
import { microTimeText, textKeeping, timeText } from './kept-text.ts';
import { ModelClasses } from './model-classes.ts';
import type { Model } from './model-classes.ts';
import { Walk } from './walk.ts';
import type { Direction, JsonObject } from './walk.ts';

/** The object itself, or what holds it: an entry, borrowed or kept, or a `DeletedFinalStateUnknown`. */
export type WireSource<T> = Wire<T> | { readonly object: Wire<T> };

export interface ModelOptions {
  /**
   * What to do with fields that the installed client-node does not know and would not write: those of a newer
   * Kubernetes, mostly. Default: `error`.
   */
  readonly onUnknownField?: 'error' | 'ignore';
}

/** `toModel` and `fromModel` for one copy of client-node. */
export interface ModelConverter {
  /**
   * The object as client-node's API methods take it: an instance of its model that is yours, sharing nothing
   * with the cache, which they write exactly as it came. Times are `Date`s that keep their text until they are
   * set.
   *
   * @throws ERR_KUBELOOM_UNKNOWN_FIELD naming all fields that would be lost; ERR_KUBELOOM_NO_MODEL for kinds
   *   without a model, custom resources among them; ERR_KUBELOOM_MODEL_MISMATCH
   */
  readonly toModel: <T>(source: WireSource<T>, options?: ModelOptions) => T;
  /**
   * A model as it looks on the wire. It needs `kind` and `apiVersion`, which client-node's lists leave out of
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
    const message = `onUnknownField is 'error' or 'ignore', not ${String(onUnknownField)}`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  const model = modelOf(classes, object);
  const walk = new Walk(classes, direction);
  const converted = walk.object(model, object);
  if (walk.lost.length > 0 && onUnknownField === 'error') throw lossError(model, walk.lost);
  return converted;
}

/** Every object has its kind; what holds one has not. */
function objectOf(source: unknown): JsonObject {
  if (typeof source !== 'object' || source === null) {
    const message = `an object or an entry was expected, not ${source === null ? 'null' : typeof source}`;
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
    `client-node has no model for ${apiVersion} ${kind}. Its CustomObjectsApi writes objects as they are on the ` +
      'wire: give it copy()',
  );
}

function lossError(model: Model, lost: readonly string[]): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_UNKNOWN_FIELD',
    `${model.name} of the installed client-node has no place for ${lost.join(', ')}: its API methods would leave ` +
      'that out, and a replace would delete it on the server. Patch the object, write it as it is (see ' +
      "docs/migrating-from-client-node.md), update client-node, or say { onUnknownField: 'ignore' }",
  );
}

/**
 * client-go's plain informers: a store, the controller that fills it, and a handler that the process loop calls. No
 * threads and no shared memory.
 */
import { metaNamespaceIndexFunc } from '../cache/indices.ts';
import { newIndexer } from '../cache/indexed-store.ts';
import { deletionHandlingMetaNamespaceKeyFunc, metaNamespaceKeyFunc, keyOf } from '../../kube/keys.ts';
import type { IndexValuesFunctions, Indexer, KeyFunction } from '../../kube/store.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import type { Deltas, Transformer } from '../queue/delta.ts';
import { RealFIFO } from '../queue/real-fifo.ts';
import { newController } from './controller.ts';
import type { Controller } from './controller.ts';
import { WarningReporter } from './warning-reporter.ts';
import { anEventHandler, processDeltas, processDeltasInBatch } from './process-deltas.ts';
import type { ObjectEventHandler } from './process-deltas.ts';
import { anObject, callback, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { REFLECTOR_CHECKS, Reflector, aListerWatcher, timesOf } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import { anExpectedType } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';

/** Options of an informer without shared handlers. */
export interface PlainInformerOptions<Item> extends ReflectorOptions {
  /** Functions by which the reflector lists and watches. */
  readonly listerWatcher: ListerWatcher<Item>;
  /** Type of the objects; events with objects of another type are reported and skipped. Default: any type. */
  readonly objectType?: ExpectedType;
  /** Called after each change of the store; a promise is awaited before the next call. */
  readonly handler: ObjectEventHandler<Item>;
  /** Index functions of the store by the names of the indexes. Default: none. */
  readonly indexers?: IndexValuesFunctions<Item>;
  /** Called once for every received object, before any other code reads it. Must keep the key. */
  readonly transform?: Transformer<Item>;
}

/** A store for reading only. */
export interface PlainInformer<Item> {
  /** The objects by `namespace/name`. Only the controller may write the store. */
  readonly store: Indexer<Item>;
  /** The controller that fills the store after a call of `run`. */
  readonly controller: Controller<Item, Deltas<Item>>;
}

/** Creates a store and the controller that fills it, by options. @throws ERR_KUBELOOM_OPTION */
export function newInformerWithOptions<Item>(options: PlainInformerOptions<Item>): PlainInformer<Item> {
  checkOptions('options of an informer', options, PLAIN_INFORMER_CHECKS);
  for (const name of ['listerWatcher', 'handler'] as const) PLAIN_INFORMER_CHECKS[name](name, options[name]);
  const { listerWatcher, objectType, handler, indexers, transform, resyncPeriodMs, ...others } = options;
  const keyFunction = deletionHandlingMetaNamespaceKeyFunc;
  const store = newIndexer<Item>(keyFunction, indexers ?? {});
  const name = options.name ?? 'Informer';
  const reports = new WarningReporter(name, options.watchErrorHandler, timesOf(options).clock);
  const queue = new RealFIFO<Item>({
    atomicEvents: true,
    emitDeltaTypeBookmark: true,
    keyFunction,
    name,
    ...(transform ? { transformer: safeTransform(transform, keyFunction, reports) } : {}),
  });
  const controller = newController<Item, Deltas<Item>>({
    ...others,
    name,
    queue,
    listerWatcher,
    ...(objectType ? { objectType } : {}),
    fullResyncPeriodMs: resyncPeriodMs ?? 0,
    process: (deltas, isInInitialList) => processDeltas(handler, store, deltas, isInInitialList),
    processBatch: (deltas, isInInitialList) => processDeltasInBatch(handler, store, deltas, isInInitialList),
  });
  return { store, controller };
}
const PLAIN_INFORMER_CHECKS: OptionChecks<PlainInformerOptions<unknown>> = {
  ...REFLECTOR_CHECKS,
  listerWatcher: aListerWatcher,
  objectType: anExpectedType,
  handler: anEventHandler,
  indexers: anObject,
  transform: callback,
};

/** Creates a store and the controller that fills it. @param objectType undefined: objects of any type */
export function newInformer<Item>(
  listerWatcher: ListerWatcher<Item>,
  objectType: ExpectedType | undefined,
  resyncPeriodMs: number,
  handler: ObjectEventHandler<Item>,
): PlainInformer<Item> {
  return newIndexerInformer(listerWatcher, objectType, resyncPeriodMs, handler, {});
}

/** Creates an indexed store and the controller that fills it. */
export function newIndexerInformer<Item>(
  listerWatcher: ListerWatcher<Item>,
  objectType: ExpectedType | undefined,
  resyncPeriodMs: number,
  handler: ObjectEventHandler<Item>,
  indexers: IndexValuesFunctions<Item>,
): PlainInformer<Item> {
  const type = objectType ? { objectType } : {};
  return newInformerWithOptions({ listerWatcher, ...type, resyncPeriodMs, handler, indexers });
}

/** Creates a store and the controller that fills it with transformed objects. */
export function newTransformingInformer<Item>(
  listerWatcher: ListerWatcher<Item>,
  objectType: ExpectedType | undefined,
  resyncPeriodMs: number,
  handler: ObjectEventHandler<Item>,
  transform: Transformer<Item>,
): PlainInformer<Item> {
  return newTransformingIndexerInformer(listerWatcher, objectType, resyncPeriodMs, handler, {}, transform);
}

/** Creates an indexed store and the controller that fills it with transformed objects. */
export function newTransformingIndexerInformer<Item>(
  listerWatcher: ListerWatcher<Item>,
  objectType: ExpectedType | undefined,
  resyncPeriodMs: number,
  handler: ObjectEventHandler<Item>,
  indexers: IndexValuesFunctions<Item>,
  transform: Transformer<Item>,
): PlainInformer<Item> {
  const type = objectType ? { objectType } : {};
  return newInformerWithOptions({ listerWatcher, ...type, resyncPeriodMs, handler, indexers, transform });
}

/** Returns an indexer with the index `namespace`, and the reflector that fills it. */
export function newNamespaceKeyedIndexerAndReflector<Item>(
  listerWatcher: ListerWatcher<Item>,
  expectedType: ExpectedType | undefined,
  resyncPeriodMs: number,
  options: ReflectorOptions = {},
): { readonly indexer: Indexer<Item>; readonly reflector: Reflector<Item> } {
  const indexer = newIndexer<Item>(metaNamespaceKeyFunc, { namespace: metaNamespaceIndexFunc });
  const reflector = new Reflector(listerWatcher, expectedType, indexer, { ...options, resyncPeriodMs });
  return { indexer, reflector };
}

/**
 * Returns a transform that never fails. A failure is reported, and the object is stored as received. (client-go relists
 * forever, leaves the object out, or loses the event.) A result with another key also counts as a failure: the object
 * could neither be found nor deleted.
 */
function safeTransform<Item>(
  transform: Transformer<Item>,
  keyFunction: KeyFunction<Item>,
  reports: WarningReporter,
): Transformer<Item> {
  return (item) => {
    let key: string;
    try {
      key = keyOf(keyFunction, item);
    } catch {
      // The queue reports the missing key.
      return item;
    }
    try {
      const transformed = transform(item);
      const after = keyOf(keyFunction, transformed);
      if (after === key) return transformed;
      throw new Error(`its key became ${JSON.stringify(after)}`);
    } catch (cause) {
      const reason = messageOf(cause);
      const message = `the transform of ${JSON.stringify(key)} failed: ${reason}; the object is stored as received`;
      reports.report(new KubeloomError('ERR_KUBELOOM_TRANSFORM', message, { cause }), 'transform');
      return item;
    }
  };
}

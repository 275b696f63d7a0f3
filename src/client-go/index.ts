/**
 * `kubeloom/client-go`: client-go's generic lower layer, for a single thread and for objects of any kind. Stores,
 * queues, reflector, controller and plain informers, in the order of data flow.
 */
export { newestDelta, oldestDelta, isObjectDelta } from './queue/delta.ts';
export type {
  CollectionDelta,
  Delta,
  DeltaType,
  Deltas,
  MaybeTombstone,
  ObjectDelta,
  Transformer,
} from './queue/delta.ts';
export type { KnownObjects } from './queue/known-objects.ts';
export type { PopProcess, Queue, QueueWithBatch, RequeueingQueue } from './queue/queue.ts';
export { ErrRequeue } from './queue/queue.ts';
export { FIFO } from './queue/fifo.ts';
export type { FIFOOptions } from './queue/queue-base.ts';
export { DeltaFIFO } from './queue/delta-fifo.ts';
export type { DeltaFIFOOptions } from './queue/delta-fifo.ts';
export { RealFIFO } from './queue/real-fifo.ts';
export type { RealFIFOOptions } from './queue/real-fifo.ts';
export { Heap } from './queue/heap.ts';
export type { LessFunction } from '../base/heap-data.ts';
export * as meta from '../kube/meta.ts';
export { eachListItem, extractList, isListType, listAccessor } from '../kube/meta.ts';
export type { ListAccessor, ObjectAccessor, OwnerReference, Timestamp } from '../kube/meta.ts';
export { isTombstone, tombstone } from '../kube/tombstone.ts';
export type { Tombstone } from '../kube/tombstone.ts';
export type {
  IndexValuesFunction,
  IndexValuesFunctions,
  Indexer,
  IndexerReader,
  KeyFunction,
  ReflectorStore,
  Store,
  StoreReader,
} from '../kube/store.ts';
export { UndeltaStore, newIndexer, newStore } from './cache/indexed-store.ts';
export type { StoreOptions } from './cache/indexed-store.ts';
export { ThreadSafeStore, TransactionError } from './cache/thread-safe-store.ts';
export type {
  KeyedTransaction,
  StoreMetrics,
  ThreadSafeStoreOptions,
  Transaction,
  TransactionStore,
} from './cache/thread-safe-store.ts';
export { indexFuncToKeyFuncAdapter, metaNamespaceIndexFunc } from './cache/indices.ts';
export { ExpirationCache, TTLPolicy, newTTLStore } from './cache/expiration-cache.ts';
export type { ExpirationPolicy, TimestampedEntry } from './cache/expiration-cache.ts';
export { MutationCache } from './cache/mutation-cache.ts';
export type { MutationCacheOptions } from './cache/mutation-cache.ts';
export { AsyncTracker, Lazy, SingleFileTracker } from './cache/synctrack.ts';
export { ListWatch } from './controller/list-watch.ts';
export type { ListFunction, ListWatchFunctions, WatchFunction } from './controller/list-watch.ts';
export { newFilteredListWatchFromClient, newListWatchFromClient } from './controller/list-watch.ts';
export type { OptionsModifier } from './controller/list-watch.ts';
export { ListPager } from './controller/pager.ts';
export type { ListPagerOptions } from './controller/pager.ts';
export { Reflector } from './controller/reflector.ts';
export type { BackoffOptions, ReflectorOptions } from './controller/reflector.ts';
export type { ErrorOrigin, ReflectorErrorHandler } from './controller/warning-reporter.ts';
export type { ResourceVersionUpdater } from './controller/store-writer.ts';
export type { ExpectedType } from './controller/expected-type.ts';
export { Controller, newController } from './controller/controller.ts';
export type { ControllerConfig } from './controller/controller.ts';
export { processDeltas, processDeltasInBatch } from './controller/process-deltas.ts';
export type { ClientState, ObjectEventHandler } from './controller/process-deltas.ts';
export {
  newIndexerInformer,
  newInformer,
  newInformerWithOptions,
  newNamespaceKeyedIndexerAndReflector,
  newTransformingIndexerInformer,
  newTransformingInformer,
} from './controller/informer.ts';
export type { PlainInformer, PlainInformerOptions } from './controller/informer.ts';

// client-go's names for the threaded informers.
export { BUILT_IN_GROUPS, builtInResources, findBuiltIn } from '../kube/resources.ts';
export type { BuiltInGroups } from '../kube/resources.ts';
export {
  ExplicitKey,
  KeyError,
  ObjectName,
  deletionHandlingMetaNamespaceKeyFunc,
  deletionHandlingObjectToName,
  metaNamespaceKeyFunc,
  metaObjectToName,
  objectToName,
  parseObjectName,
  splitMetaNamespaceKey,
} from '../kube/keys.ts';
export {
  newSharedIndexInformer,
  newSharedIndexInformerWithOptions,
  newSharedInformer,
} from './controller/shared-informers.ts';
export {
  FilteringResourceEventHandler,
  ResourceEventHandlerDetailedFuncs,
  ResourceEventHandlerFuncs,
  nameForHandler,
  deletedObject,
} from '../informer/handler-adaptors.ts';
export type {
  FilteringOptions,
  HandlerDetailedFuncs,
  HandlerFuncs,
  DeletedObject,
} from '../informer/handler-adaptors.ts';
export { waitForNamedCacheSync } from '../informer/wait-for.ts';
export type { DoneChecker, DoneProgress } from '../base/done-checker.ts';
export {
  DynamicSharedInformerFactory,
  MetadataInformerFactory,
  ObjectOrMetadataInformerFactory,
} from '../informer/factory/dynamic-informer-factory.ts';
export type {
  GroupVersionResource,
  ResourceQuery,
  ResourceQueryOf,
} from '../informer/factory/resource-query.ts';
export { CacheMutationDetector, MutationError } from '../informer/mutation/cache-mutation-detector.ts';
export type { CacheMutationDetectorOptions } from '../informer/mutation/cache-mutation-detector.ts';

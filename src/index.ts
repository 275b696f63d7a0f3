/**
 * kubeloom: client-go's informer machinery for Node.js, spread over worker threads.
 *
 * ```
 *               1                 2               3               4                   5                6
 * apiserver ─► reflector ──────► ring ────────► indexer ───────► ring ────────────► processor ─────► listeners
 * LIST/WATCH   thread            one per        threads (N)      one per shard      main thread      one growing
 *              frames, keys,     shard          fields,          notifications      merge by         ring per
 *              sequence          deltas         transform,                          sequence         handler
 *                 │                             codec  │                              │
 *                 └─► log: the wire's bytes, shared, first in first out ──────────────┴─► store: keys, indices,
 *                                                                                         bytes, private
 * ```
 *
 * Names are exported in the order of the flow.
 */
export { resourcePath } from './kube/resource.ts';
export type { ResourceOf, ResourceRef } from './kube/resource.ts';
export { resources } from './kube/built-in.ts';
export type { BuiltInResources } from './kube/built-in.ts';
export type {
  KubeList,
  ListMetadata,
  ListOptions,
  ListerWatcher,
  Watch,
  WatchEvent,
} from './kube/list-watch.ts';
export { LabelSelector, labelSelectorAsSelector, parseLabelSelector } from './kube/label-selector.ts';
export type { LabelSelectorObject, LabelSet, Requirement, SelectorOperator } from './kube/label-selector.ts';
export { parseFieldSelector } from './kube/field-selector.ts';
export type { FieldRequirement } from './kube/field-selector.ts';
export { RestMapper } from './kube/rest-mapper.ts';
export type { KindLike, KindName, ResourceName, RestMapperOptions } from './kube/rest-mapper.ts';
export type { GetJson } from './kube/discovery.ts';
export { BUILT_IN_GROUPS, builtInResources, findBuiltIn } from './kube/resources.ts';
export type { BuiltInGroups } from './kube/resources.ts';
export type { BuiltInWire, KubeObject, PartialObjectMetadata, Wire, WireOf } from './kube/wire.ts';
export { fromModel, toModel } from './model/to-model.ts';
export { createModelConverter } from './model/converter.ts';
export type { ModelConverter, ModelOptions, WireSource } from './model/converter.ts';
export { compareResourceVersions, isComparableResourceVersion } from './kube/resource-version.ts';
export { loadKubeConfig } from './transport/credentials.ts';
export { restrictCredentialPlugins } from './transport/plugin-policy.ts';
export type { CredentialPluginPolicy } from './transport/plugin-policy.ts';
export { InformerThreads } from './threads/informer-threads.ts';
export type { Codec, Lifetimes, ThreadsOptions } from './options.ts';
export { defaultThreads } from './options.ts';
export type { ReflectorPhase } from './threads/protocol.ts';

export { drop, transformModule } from './informer/transform.ts';
export type { Transform, DropTransform, ModuleTransform, PlainTransform } from './informer/transform.ts';
export {
  NAMESPACE_INDEX,
  field,
  indexModule,
  label,
  namespaceIndex,
  ownerUid,
} from './store/index-functions.ts';
export type {
  DeclarativeIndex,
  IndexFunction,
  Indexers,
  ModuleIndex,
  PlainIndexFunction,
} from './store/index-functions.ts';

export { DeletedFinalStateUnknown } from './store/entry.ts';
export type {
  Borrowed,
  CachedObject,
  Identity,
  KubeMetadata,
  Mutable,
  ObjectIdentity,
} from './store/entry.ts';
export type { Labels } from './store/projected-fields.ts';
export type { InformerIndexer, InformerStore, SelectableStore } from './store/indexer.ts';

export type { HandlerBacklog, HandlerRegistration, ResourceEventHandler } from './processor/handler.ts';

export { SharedIndexInformer } from './informer/shared-index-informer.ts';
export type { InformerController } from './informer/shared-index-informer.ts';
export type { HandlerOptions, RemovalOptions, ShutDownOptions } from './informer/handlers.ts';
export {
  newSharedIndexInformer,
  newSharedIndexInformerWithOptions,
  newSharedInformer,
} from './informer/constructors.ts';
export {
  FilteringResourceEventHandler,
  ResourceEventHandlerDetailedFuncs,
  ResourceEventHandlerFuncs,
} from './informer/handler-adaptors.ts';
export type { FilteringOptions, HandlerDetailedFuncs, HandlerFuncs } from './informer/handler-adaptors.ts';
export { nameForHandler } from './informer/handler-name.ts';
export { deletedObject } from './informer/deleted-object.ts';
export type { DeletedObject } from './informer/deleted-object.ts';
export type { WatchErrorHandler } from './informer/reports.ts';
export type { InformerOptions, MutationDetection } from './informer/options.ts';
export type { TweakListOptions } from './informer/tweak.ts';
export type { ErrorContext, ErrorListener } from './informer/errors.ts';
export { Lister, NamespaceLister, NotFoundError } from './informer/lister.ts';
export type { SelectorLike } from './informer/lister.ts';
export type { HandlerHealth, HealthChange, HealthListener, InformerHealth } from './informer/health.ts';
export { waitForCacheSync, waitForNamedCacheSync } from './informer/sync.ts';
export { NotSyncedError, waitFor } from './informer/wait-for.ts';
export type { DoneChecker, DoneProgress } from './done-checker.ts';
export type { Missing, WaitOptions, WaitProgress } from './informer/wait-for.ts';

export { InformerFactory } from './factory/informer-factory.ts';
export type { GenericInformer, NewInformer } from './factory/informer-factory.ts';
export { SharedInformerFactory } from './factory/shared-informer-factory.ts';
export type { BuiltInInformers } from './factory/shared-informer-factory.ts';
export { DynamicSharedInformerFactory } from './factory/dynamic-informer-factory.ts';
export { MetadataInformerFactory } from './factory/metadata-informer-factory.ts';
export { ObjectOrMetadataInformerFactory } from './factory/object-or-metadata-informer-factory.ts';
export type { CustomResync, FactoryOptions, FactorySource, ListerWatcherSource } from './factory/options.ts';
export type { GroupVersionResource, ResourceWish } from './factory/resource-wish.ts';

export { Cache, InformersMap } from './informers-map/informers-map.ts';
export type { InformerForOptions } from './informers-map/informers-map.ts';
export { InformerLease } from './informers-map/lease.ts';
export { NotCachedError } from './informers-map/not-cached-error.ts';
export type { CacheList, CacheListOptions } from './informers-map/query.ts';
export type { FieldExtractor } from './informers-map/field-indexes.ts';
export type { ObjectKey } from './informers-map/object-key.ts';
export type { View } from './informers-map/view.ts';
export type {
  InformersMapOptions,
  KindOptions,
  NamespaceSet,
  ScopeOptions,
} from './informers-map/options.ts';

export { CacheMutationDetector } from './mutation/cache-mutation-detector.ts';
export type { CacheMutationDetectorOptions } from './mutation/cache-mutation-detector.ts';
export { MutationError } from './mutation/mutation-error.ts';

export { KubeloomError } from './errors.ts';

// What handlers feed: work queues, independent of the rest.
export { WorkQueue } from './workqueue/work-queue.ts';
export type { WorkQueueOptions } from './workqueue/work-queue.ts';
export type { WorkOrder } from './workqueue/work-order.ts';
export type { WorkQueueMetrics } from './workqueue/metrics.ts';
export { DelayingQueue } from './workqueue/delaying-queue.ts';
export { RateLimitingQueue } from './workqueue/rate-limiting-queue.ts';
export type { RateLimitingQueueOptions } from './workqueue/rate-limiting-queue.ts';
export { PriorityQueue } from './workqueue/priority-queue.ts';
export type { AddOptions, PriorityQueueOptions } from './workqueue/priority-queue.ts';
export {
  BucketRateLimiter,
  ItemExponentialFailureRateLimiter,
  ItemFastSlowRateLimiter,
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
} from './workqueue/rate-limiters.ts';
export type { RateLimiter } from './workqueue/rate-limiters.ts';
export { runWorkers } from './workqueue/run-workers.ts';
export type { ReconcileResult, RunWorkersOptions } from './workqueue/run-workers.ts';
export { parallelizeUntil } from './workqueue/parallelize-until.ts';
export type { ParallelizeOptions } from './workqueue/parallelize-until.ts';

// client-go's lower layers, generic and on one thread.
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
export { ErrRequeue } from './queue/requeue.ts';
export { FIFO } from './queue/fifo.ts';
export type { FIFOOptions } from './queue/fifo.ts';
export { DeltaFIFO } from './queue/delta-fifo.ts';
export type { DeltaFIFOOptions } from './queue/delta-fifo.ts';
export { RealFIFO } from './queue/real-fifo.ts';
export type { RealFIFOOptions } from './queue/real-fifo-options.ts';
export { Heap } from './queue/heap.ts';
export type { LessFunction } from './queue/heap-data.ts';
export * as meta from './kube/meta.ts';
export { eachListItem, extractList, isListType, listAccessor } from './kube/meta.ts';
export type { ListAccessor, ObjectAccessor, OwnerReference, Timestamp } from './kube/meta.ts';
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
} from './cache/keys.ts';
export { isTombstone, tombstone } from './cache/tombstone.ts';
export type { Tombstone } from './cache/tombstone.ts';
export type {
  IndexValuesFunction,
  IndexValuesFunctions,
  Indexer,
  IndexerReader,
  KeyFunction,
  ReflectorStore,
  Store,
  StoreReader,
} from './cache/store.ts';
export { newIndexer, newStore } from './cache/indexed-store.ts';
export type { StoreOptions } from './cache/indexed-store.ts';
export { TransactionError } from './cache/transaction.ts';
export type { KeyedTransaction, Transaction, TransactionStore } from './cache/transaction.ts';
export { ThreadSafeStore } from './cache/thread-safe-store.ts';
export type { StoreMetrics, ThreadSafeStoreOptions } from './cache/thread-safe-store.ts';
export { indexFuncToKeyFuncAdapter, metaNamespaceIndexFunc } from './cache/index-functions.ts';
export { ExpirationCache, TTLPolicy, newTTLStore } from './cache/expiration-cache.ts';
export type { ExpirationPolicy, TimestampedEntry } from './cache/expiration-cache.ts';
export { MutationCache } from './cache/mutation-cache.ts';
export type { MutationCacheOptions } from './cache/mutation-cache.ts';
export { UndeltaStore } from './cache/undelta-store.ts';
export { Lazy } from './cache/lazy.ts';
export { AsyncTracker, SingleFileTracker } from './cache/sync-trackers.ts';
export { ListWatch } from './controller/list-watch.ts';
export type { ListFunction, ListWatchFunctions, WatchFunction } from './controller/list-watch.ts';
export { newFilteredListWatchFromClient, newListWatchFromClient } from './controller/client-list-watch.ts';
export type { OptionsModifier } from './controller/client-list-watch.ts';
export { ListPager } from './controller/pager.ts';
export type { ListPagerOptions } from './controller/pager.ts';
export { Reflector } from './controller/reflector.ts';
export type { BackoffOptions, ReflectorOptions } from './controller/reflector-options.ts';
export type { ErrorOrigin, ReflectorErrorHandler } from './controller/error-reports.ts';
export type { ResourceVersionUpdater } from './controller/destination.ts';
export type { ExpectedType } from './controller/shape.ts';
export { Controller, newController } from './controller/controller.ts';
export type { ControllerConfig } from './controller/controller.ts';
export { processDeltas } from './controller/process-deltas.ts';
export { processDeltasInBatch } from './controller/process-batch.ts';
export type { ClientState } from './controller/client-state.ts';
export type { ObjectEventHandler } from './controller/event-handler.ts';
export {
  newIndexerInformer,
  newInformer,
  newInformerWithOptions,
  newNamespaceKeyedIndexerAndReflector,
  newTransformingIndexerInformer,
  newTransformingInformer,
} from './controller/informer.ts';
export type { PlainInformer, PlainInformerOptions } from './controller/informer.ts';

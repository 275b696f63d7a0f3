/**
 * The exports of client-go 0.36.3, package by package: names only. Generated types count once, by the example of pods.
 */

export const CLIENT_GO_NAMES: Readonly<Record<string, readonly string[]>> = {
  'tools/cache':
    'Added AppendFunc Bookmark BookmarkInfo Config Controller CounterMetric DefaultWatchErrorHandler Deleted DeletedFinalStateUnknown DeletionHandlingMetaNamespaceKeyFunc DeletionHandlingObjectToName Delta DeltaFIFO DeltaFIFOOptions DeltaType Deltas DoneChecker ErrFIFOClosed ErrZeroLengthDeltasObject ExpirationCache ExpirationPolicy ExplicitKey FIFO FakeCustomStore FakeExpirationPolicy FilteringResourceEventHandler GaugeMetric GenericLister GenericNamespaceLister Getter HandlerOptions Heap HistogramMetric IndexFunc IndexFuncToKeyFuncAdapter Indexer Indexers Indices InformerMetricsProvider InformerName InformerNameAndResource InformerOptions InformerSynced IsDone KeyError KeyFunc KeyGetter KeyLister KeyListerGetter LessFunc ListAll ListAllByNamespace ListFunc ListWatch ListWithContextFunc Lister ListerWatcher ListerWatcherWithContext ListerWithContext MetaNamespaceIndexFunc MetaNamespaceKeyFunc MetaObjectToName MetricsProvider MutationCache MutationDetector NamespacedNameAsObjectName New NewCacheMutationDetector NewDeltaFIFO NewDeltaFIFOWithOptions NewExpirationStore NewFIFO NewFakeExpirationStore NewFilteredListWatchFromClient NewGenericLister NewHeap NewIndexer NewIndexerInformer NewInformer NewInformerName NewInformerWithOptions NewIntegerResourceVersionMutationCache NewListWatchFromClient NewNamedReflector NewNamespaceKeyedIndexerAndReflector NewObjectName NewRealFIFO NewRealFIFOWithOptions NewReflector NewReflectorWithOptions NewRetryWithDeadline NewSharedIndexInformer NewSharedIndexInformerWithOptions NewSharedInformer NewStore NewTTLStore NewThreadSafeStore NewTransformingIndexerInformer NewTransformingInformer NewUndeltaStore ObjectName ObjectToName ParseObjectName PopProcessFunc ProcessBatchFunc ProcessFunc Queue QueueWithBatch RealFIFO RealFIFOOptions Reflector ReflectorBookmarkStore ReflectorOptions ReflectorStore Replaced ReplacedAll ReplacedAllInfo ResetInformerNamesForTesting ResourceEventHandler ResourceEventHandlerDetailedFuncs ResourceEventHandlerFuncs ResourceEventHandlerRegistration ResourceVersionComparator ResourceVersionUpdater RetryWithDeadline SetInformerMetricsProvider SetReflectorMetricsProvider SharedIndexInformer SharedIndexInformerOptions SharedInformer ShouldResyncFunc SplitMetaNamespaceKey Store StoreOption SummaryMetric Sync SyncAll SyncAllInfo SyncResult TTLPolicy ThreadSafeStore ThreadSafeStoreOption ThreadSafeStoreTransaction ThreadSafeStoreWithTransaction TimestampedEntry ToListWatcherWithWatchListSemantics ToListerWatcherWithContext ToListerWithContext ToWatcherWithContext Transaction TransactionError TransactionStore TransactionType TransformFunc TransformingStore UndeltaStore Updated VeryShortWatchError WaitFor WaitForCacheSync WaitForNamedCacheSync WaitForNamedCacheSyncWithContext WatchErrorHandler WatchErrorHandlerWithContext WatchFunc WatchFuncWithContext Watcher WatcherWithContext WithStoreMetrics WithThreadSafeStoreMetrics WithTransformer'.split(
      ' ',
    ),
  'tools/cache/synctrack': 'AsyncTracker Lazy NewAsyncTracker NewSingleFileTracker SingleFileTracker'.split(
    ' ',
  ),
  'tools/cache/testing':
    'FakeControllerSource FakePVCControllerSource FakePVControllerSource NewFakeControllerSource NewFakePVCControllerSource NewFakePVControllerSource'.split(
      ' ',
    ),
  informers:
    'GenericInformer NewFilteredSharedInformerFactory NewSharedInformerFactory NewSharedInformerFactoryWithOptions SharedInformerFactory SharedInformerOption WithCustomResyncConfig WithInformerName WithNamespace WithTransform WithTweakListOptions'.split(
      ' ',
    ),
  'informers/internalinterfaces':
    'InformerOptions NewInformerFunc SharedInformerFactory TweakListOptionsFunc'.split(' '),
  listers: 'New NewNamespaced ResourceIndexer'.split(' '),
  'util/workqueue':
    'BucketRateLimiter CounterMetric DefaultControllerRateLimiter DefaultItemBasedRateLimiter DefaultQueue DefaultTypedControllerRateLimiter DefaultTypedItemBasedRateLimiter DelayingInterface DelayingQueueConfig DoWorkPieceFunc GaugeMetric HistogramMetric Interface ItemExponentialFailureRateLimiter ItemFastSlowRateLimiter MaxOfRateLimiter MetricsProvider New NewDelayingQueue NewDelayingQueueWithConfig NewDelayingQueueWithCustomClock NewDelayingQueueWithCustomQueue NewItemExponentialFailureRateLimiter NewItemFastSlowRateLimiter NewMaxOfRateLimiter NewNamed NewNamedDelayingQueue NewNamedRateLimitingQueue NewRateLimitingQueue NewRateLimitingQueueWithConfig NewRateLimitingQueueWithDelayingInterface NewTyped NewTypedDelayingQueue NewTypedDelayingQueueWithConfig NewTypedItemExponentialFailureRateLimiter NewTypedItemFastSlowRateLimiter NewTypedMaxOfRateLimiter NewTypedRateLimitingQueue NewTypedRateLimitingQueueWithConfig NewTypedWithConfig NewTypedWithMaxWaitRateLimiter NewWithConfig NewWithMaxWaitRateLimiter Options ParallelizeUntil Queue QueueConfig RateLimiter RateLimitingInterface RateLimitingQueueConfig SetProvider SettableGaugeMetric SummaryMetric Type Typed TypedBucketRateLimiter TypedDelayingInterface TypedDelayingQueueConfig TypedInterface TypedItemExponentialFailureRateLimiter TypedItemFastSlowRateLimiter TypedMaxOfRateLimiter TypedNewDelayingQueue TypedQueueConfig TypedRateLimiter TypedRateLimitingInterface TypedRateLimitingQueueConfig TypedWithMaxWaitRateLimiter WithChunkSize WithMaxWaitRateLimiter'.split(
      ' ',
    ),
  'dynamic/dynamicinformer':
    'DynamicSharedInformerFactory NewDynamicSharedInformerFactory NewFilteredDynamicInformer NewFilteredDynamicSharedInformerFactory TweakListOptionsFunc'.split(
      ' ',
    ),
  'dynamic/dynamiclister': 'Lister NamespaceLister New NewRuntimeObjectShim'.split(' '),
  'metadata/metadatainformer':
    'NewFilteredMetadataInformer NewFilteredSharedInformerFactory NewSharedInformerFactory NewSharedInformerFactoryWithOptions SharedInformerFactory SharedInformerOption TweakListOptionsFunc WithTransform'.split(
      ' ',
    ),
  'metadata/metadatalister': 'Lister NamespaceLister New NewRuntimeObjectShim'.split(' '),
};

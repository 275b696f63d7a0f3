/**
 * kubeloom: client-go's informer machinery for Node.js, spread over worker threads.
 *
 * The picture of the pipeline, with each thread and each piece of shared memory, is in docs/architecture.md.
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
} from './kube/lister-watcher.ts';
export { LabelSelector, labelSelectorAsSelector, parseLabelSelector } from './kube/label-selector.ts';
export type { LabelSelectorObject, LabelSet, Requirement, SelectorOperator } from './kube/label-selector.ts';
export { parseFieldSelector } from './kube/field-selector.ts';
export type { FieldRequirement } from './kube/field-selector.ts';
export { parseShardSelector, shardSelectorText, partitionRanges } from './kube/shard-selector.ts';
export type { ShardRange, ShardSelector } from './kube/shard-selector.ts';
export type { KubeMetadata } from './kube/meta-shape.ts';
export type { BuiltInWire, KubeObject, PartialObjectMetadata, WireOf } from './kube/wire.ts';
export type { Wire } from './kube/wire-form.ts';
export { createModelConverter } from './kube/model/converter.ts';
export type { ModelConverter, ModelOptions, WireSource } from './kube/model/converter.ts';
export { compareResourceVersions, isComparableResourceVersion } from './kube/resource-version.ts';
export type { AnyKubeConfig, ServerConnection, ServerSource } from './kube/server-source.ts';
export { LoadedKubeConfig } from './kube/loaded-kube-config.ts';
export type { KubeConfigData } from './kube/loaded-kube-config.ts';
export type { KubeConfigCluster, KubeConfigUser } from './kube/confirm-usable.ts';
export { loadKubeConfig } from './http/credentials/credentials.ts';
export { restrictCredentialPlugins } from './kube/plugin-policy.ts';
export type { CredentialPluginPolicy } from './kube/plugin-policy.ts';
export { InformerThreads } from './informer/threads/informer-threads.ts';
export type { RoleStats } from './informer/threads/threads-metrics.ts';
export type { Codec, ThreadsOptions } from './informer/threads/threads-options.ts';
export type { RetainChecks } from './replica/store/entry-owner.ts';
export { defaultIndexerThreads } from './informer/threads/threads-options.ts';
export type { ReflectorPhase } from './shared/protocol.ts';
export type { ManagedFieldsSupport, ShardFilterSupport } from './shared/activity.ts';

export { drop, transformModule } from './informer/transform.ts';
export type { Transform, DropTransform, ModuleTransform, PlainTransform } from './informer/transform.ts';
export {
  NAMESPACE_INDEX,
  field,
  indexModule,
  label,
  namespaceIndex,
  ownerUid,
} from './replica/store/index-functions.ts';
export type {
  DeclarativeIndex,
  IndexFunction,
  Indexers,
  ModuleIndex,
  PlainIndexFunction,
} from './replica/store/index-functions.ts';

export { DeletedFinalStateUnknown } from './replica/store/deleted-final-state-unknown.ts';
export type {
  Borrowed,
  CachedObject,
  Mutable,
  ObjectIdentity,
  SpecOf,
  StatusOf,
} from './replica/store/cached-object.ts';
export type { Identity, Labels } from './replica/store/extracted-fields.ts';
export type { InformerIndexer, InformerStore, SelectableStore } from './replica/store/indexer.ts';

export type { HandlerBacklog, HandlerRegistration, ResourceEventHandler } from './replica/deliver/handler.ts';

export { SharedIndexInformer } from './informer/shared-index-informer.ts';
export type { InformerController } from './informer/informer-controller.ts';
export type { HandlerOptions, HandlerStats, RemovalOptions, ShutDownOptions } from './informer/handlers.ts';
export type { WatchErrorHandler, ErrorContext, ErrorListener } from './informer/error-reporter.ts';
export type { InformerStats } from './informer/informer-stats.ts';
export type { InformerOptions, InformerView, MutationDetection } from './informer/informer-options.ts';
export type { TweakListOptions } from './informer/tweak.ts';
export { Lister, NamespaceLister, NotFoundError } from './informer/lister.ts';
export type { SelectorLike } from './informer/lister.ts';
export type { HandlerHealth, HealthChange, HealthListener, InformerHealth } from './informer/health.ts';
export { NotSyncedError, waitFor, waitForCacheSync } from './informer/wait-for.ts';
export type { Missing, WaitOptions, WaitProgress } from './informer/wait-for.ts';

export { InformerFactory } from './informer/factory/informer-factory.ts';
export type {
  CustomResync,
  FactoryOptions,
  FactorySource,
  GenericInformer,
  ListerWatcherSource,
  NewInformer,
  ViewOf,
} from './informer/factory/informer-factory.ts';
export { SharedInformerFactory } from './informer/factory/shared-informer-factory.ts';
export type { BuiltInInformers } from './informer/factory/shared-informer-factory.ts';

export type { SignalOptions } from './base/signal-options.ts';
export type { SyncOptions } from './informer/sync-options.ts';
export { KubeloomError } from './base/errors.ts';
export type { ErrorCode } from './base/error-codes/error-table.ts';
export type { Logger } from './base/logger.ts';

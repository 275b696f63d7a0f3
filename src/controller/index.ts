/**
 * `kubeloom/controller`: controllers on informers and work queues, and the client for their writes. A `Manager` owns
 * the caches; each controller turns changes into keys and reconciles the keys.
 */
export { Manager } from './manager.ts';
export type { QueueFigures } from './managed-controller.ts';
export type {
  ControllerBuilder,
  ControllerOptions,
  LeaderElection,
  ManagerHealthOptions,
  ManagerOptions,
  MapToKeys,
  OwnsOptions,
  Reconcile,
  ReconcileContext,
  WatchOptions,
} from './controller-options.ts';
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  specChanged,
  statusChanged,
} from './predicates.ts';
export type { ObjectChange, Predicate } from './predicates.ts';
export { ObjectClient } from './object-client.ts';
export type { WriteListener } from './requests/request-sender.ts';
export { applied } from './requests/applied.ts';
export type { AppliedOptions } from './requests/applied.ts';
export { retryOnConflict } from './requests/retry-on-conflict.ts';
export type { RetryOnConflictOptions } from './requests/retry-on-conflict.ts';
export type { CreatedOrUpdated } from './requests/create-or-update.ts';
export type { ListPage } from './requests/list-pages.ts';
export type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectClientOptions,
  ObjectWriteOptions,
  PatchOptions,
  RequestOptions,
  WarningListener,
  WriteOptions,
} from './requests/request-options.ts';
export type {
  JsonPatchOperation,
  MergePatch,
  PatchOf,
  PatchType,
  StrategicDirectives,
  StrategicPatch,
} from './requests/patches.ts';
export type {
  ApplyConfiguration,
  DeepPartial,
  NamedFields,
  Sent,
  SubresourceOf,
  SubresourceTypes,
} from './requests/sent.ts';
export { KubeStatusError } from '../kube/status.ts';
export type { FieldConflict, StatusCause } from '../kube/status.ts';
export { controllerReference } from './objects/owner-references.ts';
export type { ControllerReference } from './objects/owner-references.ts';
export { addFinalizer, hasFinalizer, removeFinalizer } from './objects/finalizers.ts';
export type { Finalized } from './objects/finalizers.ts';
export { patchCondition, setCondition } from './objects/conditions.ts';
export type { Condition } from './objects/conditions.ts';
export { EventRecorder } from './events/event-recorder.ts';
export type { EventObject, EventRecorderOptions, RecordedEvent } from './events/event-recorder.ts';

export { LeaderElector } from './leader-election/leader-elector.ts';
export type {
  ElectionOptions,
  LeaderElectorOptions,
  LeaseOptions,
} from './leader-election/leader-elector.ts';
export type { OnLeading } from './leader-election/election.ts';
export type { LeaderElectionRecord, ResourceLock, StoredRecord } from './leader-election/resource-lock.ts';

export type { ElectionTimes } from './leader-election/election-times.ts';

// The cache of kinds that a manager owns.
export { RestMapper } from '../kube/rest-mapper.ts';
export type { KindLike, KindName, ResourceName, RestMapperOptions } from '../kube/rest-mapper.ts';
export type { GetJson } from '../kube/discovery.ts';
export { InformersMap } from '../informer/map/informers-map.ts';
export type { InformerForOptions } from '../informer/map/informers-map.ts';
export type { InformerHandle, WrittenMetadata } from '../informer/map/informer-handle.ts';
export { NotCachedError } from '../informer/map/kind-cache.ts';
export type { ObjectKey } from '../informer/map/kind-cache.ts';
export type { CacheList, CacheListOptions } from '../informer/map/query.ts';
export type { FieldExtractor } from '../informer/map/field-indexes.ts';
export type {
  InformersMapOptions,
  KindOptions,
  NamespaceSet,
  ScopeOptions,
} from '../informer/map/map-options.ts';

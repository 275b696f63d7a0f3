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
export type { ResourceRef } from './kube/resource.ts';
export { loadKubeConfig } from './transport/credentials.ts';
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
export type { Labels } from './store/projection.ts';
export type { Indexer, Store } from './store/indexer.ts';

export type { HandlerBacklog, HandlerRegistration, ResourceEventHandler } from './processor/handler.ts';

export { SharedIndexInformer } from './informer/shared-index-informer.ts';
export type { HandlerOptions, WatchErrorHandler } from './informer/shared-index-informer.ts';
export type { InformerOptions } from './informer/options.ts';
export type { ErrorContext, ErrorListener } from './informer/errors.ts';
export { waitForCacheSync } from './informer/sync.ts';

export { KubeloomError } from './errors.ts';

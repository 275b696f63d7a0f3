/** An informer whose cache other threads may read: what the room of threads sees of it. */
import type { ResourceRef } from '../kube/resource.ts';
import type { Handlers } from './handlers.ts';
import type { InformerPipeline } from './pipeline.ts';

/** An informer whose cache other threads may read. */
export interface Shareable {
  /** Name of the informer in errors: `pods (namespace web)`. */
  readonly name: string;
  /** Returns whether the informer was started. Stays true. */
  hasStarted(): boolean;
  /** Returns whether the informer stopped. Stays true. */
  isStopped(): boolean;
  /** Returns the resourceVersion of the cache; empty before the first list. */
  lastSyncResourceVersion(): string;
  /** @internal */
  readonly sharedParts: SharedParts;
}

/** @internal */
export interface SharedParts {
  readonly resource: ResourceRef;
  readonly pipeline: Pick<
    InformerPipeline<never>,
    'replica' | 'owner' | 'cacheExports' | 'extracted' | 'objectBytesMax' | 'threads'
  >;
  readonly handlers: Pick<Handlers, 'add' | 'isIdle' | 'remove'>;
}

/** An informer whose cache other threads may read: what the room of threads sees of it. */
import type { ResourceRef } from '../kube/resource.ts';
import type { Handlers } from './handlers.ts';
import type { InformerPipeline } from './pipeline.ts';

/** An informer whose cache other threads may read. */
export interface Shareable {
  readonly name: string;
  hasStarted(): boolean;
  isStopped(): boolean;
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
  readonly handlers: Pick<Handlers, 'add' | 'remove'>;
}

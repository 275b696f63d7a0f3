/** Figures of an informer at a point in time, as plain data: for metrics, and for programs that inspect an informer. */
import type { ManagedFieldsSupport, ShardFilterSupport } from '../shared/activity.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import type { ErrorReporter } from './error-reporter.ts';
import type { HandlerStats, Handlers } from './handlers.ts';
import type { InformerActivity } from './informer-activity.ts';
import type { InformerPipeline, StoreBytes } from './pipeline.ts';

/** Figures of an informer. */
export interface InformerStats {
  /** Name of the informer in metrics and in messages of channels; unique in the process once it runs. */
  readonly name: string;
  /** Current activity of the reflector. */
  readonly phase: ReflectorPhase;
  /** True when the first list is in the cache. */
  readonly hasSynced: boolean;
  /** Objects in the cache. */
  readonly objects: number;
  /** Bytes of these objects, and of objects that only pending notifications need. */
  readonly storeBytes: StoreBytes;
  /** Records merged into the cache. */
  readonly records: number;
  /** Number of reported errors by code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Treatment of the shard selector by the server; undefined if there is no selector, and until a list shows it. */
  readonly shardFilterSupport: ShardFilterSupport | undefined;
  /**
   * Whether the server omits managedFields, or sends them and the informer drops them; undefined if the informer keeps
   * them, and until an object shows it. Kubernetes 1.37 omits them with the feature gate ManagedFieldsOptOut.
   */
  readonly managedFieldsSupport: ManagedFieldsSupport | undefined;
  /** Handlers in the order of registration. */
  readonly handlers: readonly HandlerStats[];
}

/** @internal */
export interface InformerStatsSource {
  readonly name: string;
  readonly phase: () => ReflectorPhase;
  readonly pipeline: Pick<InformerPipeline<never>, 'replica' | 'records' | 'storeBytes'>;
  readonly handlers: Pick<Handlers, 'stats'>;
  readonly reports: Pick<ErrorReporter, 'counts'>;
  readonly activity: Pick<InformerActivity, 'shardFilterSupport' | 'managedFieldsSupport'>;
}

/** @internal */
export function informerStats(source: InformerStatsSource): InformerStats {
  const { name, phase, pipeline, handlers, reports, activity } = source;
  const { replica, records, storeBytes } = pipeline;
  return Object.freeze({
    name,
    phase: phase(),
    hasSynced: replica.hasSynced,
    objects: replica.live.size,
    storeBytes: Object.freeze(storeBytes),
    records,
    errors: reports.counts.sumsBy('code'),
    shardFilterSupport: activity.shardFilterSupport,
    managedFieldsSupport: activity.managedFieldsSupport,
    handlers: handlers.stats,
  });
}

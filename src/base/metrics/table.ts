/**
 * Every metric of kubeloom. Sources give values only for names of this table, and docs/metrics.md is made from it. A
 * name that client-go, component-base or controller-runtime uses has their labels, buckets and meaning.
 */

/** Labels of a sample by what it belongs to. */
export const SCOPES = {
  informer: ['name', 'group', 'version', 'resource'],
  handler: ['name', 'group', 'version', 'resource', 'handler'],
  threads: ['threads'],
  thread: ['threads', 'role'],
  queue: ['name'],
  controller: ['controller'],
} as const;

/** Values of the labels of a sample, by name. */
export type MetricLabels = Readonly<Record<string, string>>;

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** Type, scope, help, and labels besides those of the scope. */
type Row = readonly [
  type: MetricType,
  scope: keyof typeof SCOPES,
  help: string,
  ...labels: readonly string[],
];

export const METRICS = {
  informer_queued_items: ['gauge', 'informer', 'Notifications that handlers have not received yet.'],
  informer_store_resource_version: [
    'gauge',
    'informer',
    'Last 15 digits of the resourceVersion of the cache.',
  ],
  kubeloom_informer_objects: ['gauge', 'informer', 'Objects in the cache.'],
  kubeloom_informer_phase: ['gauge', 'informer', '1 for what the reflector does now.', 'phase'],
  kubeloom_informer_synced: ['gauge', 'informer', '1 when the first list is in the cache.'],
  kubeloom_informer_stale: [
    'gauge',
    'informer',
    '1 when the cache may be outdated for longer than staleAfterMs.',
  ],
  kubeloom_informer_lag_seconds: [
    'gauge',
    'informer',
    'Time since the last sign that the cache follows the server.',
  ],
  kubeloom_informer_records_total: ['counter', 'informer', 'Records that were merged into the cache.'],
  kubeloom_errors_total: ['counter', 'informer', 'Errors reported for the informer.', 'code'],
  kubeloom_latency_seconds: [
    'histogram',
    'informer',
    'Time from the read of a watch event to a stage, for 1 event in 64.',
    'stage',
  ],
  kubeloom_handler_pending: ['gauge', 'handler', 'Notifications that the handler has not received yet.'],
  kubeloom_handler_pending_bytes: ['gauge', 'handler', 'Bytes of the objects of pending notifications.'],
  kubeloom_handler_oldest_seconds: ['gauge', 'handler', 'Age of the oldest pending notification.'],
  kubeloom_handler_calls_total: ['counter', 'handler', 'Calls of the handler.'],
  kubeloom_handler_errors_total: ['counter', 'handler', 'Calls that threw or rejected.'],
  kubeloom_handler_coalesced_total: ['counter', 'handler', 'Notifications that were merged into others.'],
  kubeloom_thread_cpu_seconds_total: ['counter', 'thread', 'CPU time of the thread.'],
  kubeloom_thread_records_total: ['counter', 'thread', 'Records that the thread has processed.'],
  kubeloom_thread_restarts_total: ['counter', 'thread', 'Replacements of the thread.'],
  kubeloom_thread_lost_wakeups_total: ['counter', 'thread', 'Work that was found without a wake-up.'],
  kubeloom_ring_used_bytes: ['gauge', 'threads', 'Bytes of a ring in use.', 'ring'],
  kubeloom_ring_capacity_bytes: ['gauge', 'threads', 'Size of each ring.'],
  kubeloom_log_capacity_bytes: ['gauge', 'threads', 'Size of the log between reflector and main thread.'],
  workqueue_depth: ['gauge', 'queue', 'Items that wait in the queue.'],
  workqueue_adds_total: ['counter', 'queue', 'Items added; an item that waits already does not count.'],
  workqueue_retries_total: ['counter', 'queue', 'Items added with a delay or by a rate limiter.'],
  workqueue_queue_duration_seconds: ['histogram', 'queue', 'Time from add to get.'],
  workqueue_work_duration_seconds: ['histogram', 'queue', 'Time from get to done.'],
  workqueue_unfinished_work_seconds: [
    'gauge',
    'queue',
    'Sum of the times for which items have been in work.',
  ],
  workqueue_longest_running_processor_seconds: [
    'gauge',
    'queue',
    'Longest time for which an item has been in work.',
  ],
  kubeloom_queue_latency_seconds: ['histogram', 'queue', 'Time from add to done.'],
  controller_runtime_reconcile_total: ['counter', 'controller', 'Reconciliations.', 'result'],
  controller_runtime_reconcile_errors_total: ['counter', 'controller', 'Reconciliations that failed.'],
  controller_runtime_reconcile_time_seconds: ['histogram', 'controller', 'Duration of reconciliations.'],
  controller_runtime_max_concurrent_reconciles: ['gauge', 'controller', 'Workers of the controller.'],
  controller_runtime_active_workers: ['gauge', 'controller', 'Workers that reconcile at this moment.'],
} as const;

export type MetricName = keyof typeof METRICS;

export interface MetricDefinition {
  readonly name: MetricName;
  readonly type: MetricType;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Rows of the table, in its order. */
export const METRIC_DEFINITIONS: readonly MetricDefinition[] = (
  Object.entries(METRICS) as [MetricName, Row][]
).map(([name, [type, scope, help, ...labels]]) => ({
  name,
  type,
  help,
  labels: [...SCOPES[scope], ...labels],
}));

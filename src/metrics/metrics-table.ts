/**
 * Every metric of kubeloom. Sources give values only for names of this table, and docs/metrics-table.md is made from it. A
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
  lease: ['name'],
  partitions: ['name'],
  process: [],
} as const;

/** Values of the labels of a sample, by name. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Type of a metric. */
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
  kubeloom_store_bytes: [
    'gauge',
    'informer',
    'Bytes of objects in the cache and in pending notifications, as received or packed; free room does not count.',
    'state',
  ],
  kubeloom_informer_phase: ['gauge', 'informer', '1 for what the reflector does now.', 'phase'],
  kubeloom_informer_synced: ['gauge', 'informer', '1 when the first list is in the cache.'],
  kubeloom_informer_stale: [
    'gauge',
    'informer',
    '1 when the cache may be outdated for longer than watch.staleAfterMs.',
  ],
  kubeloom_informer_lag_seconds: [
    'gauge',
    'informer',
    'Time since the last sign that the cache follows the server.',
  ],
  kubeloom_informer_records_total: ['counter', 'informer', 'Records that were merged into the cache.'],
  kubeloom_errors_total: ['counter', 'informer', 'Errors reported for the informer.', 'code', 'during'],
  kubeloom_lists_total: ['counter', 'informer', 'Lists that ended.', 'mode', 'cause', 'result'],
  kubeloom_list_duration_seconds: ['histogram', 'informer', 'Duration of complete lists.', 'mode'],
  kubeloom_list_items: ['gauge', 'informer', 'Objects of the last complete list.'],
  kubeloom_list_bytes: ['gauge', 'informer', 'Bytes of the last complete list.'],
  kubeloom_watches_started_total: ['counter', 'informer', 'Watches that the server accepted.'],
  kubeloom_watches_ended_total: ['counter', 'informer', 'Watches that ended.', 'reason'],
  kubeloom_watch_duration_seconds: ['histogram', 'informer', 'Duration of watches that ended.'],
  kubeloom_watch_events_total: ['counter', 'informer', 'Events of watches and streaming lists.', 'type'],
  kubeloom_received_bytes_total: ['counter', 'informer', 'Bytes of the bodies of responses.', 'verb'],
  kubeloom_ignored_events_total: ['counter', 'informer', 'Objects and events that were ignored.', 'reason'],
  kubeloom_latency_seconds: [
    'histogram',
    'informer',
    'Time from the read of a watch event to a stage, for 1 event in 64.',
    'stage',
  ],
  kubeloom_shared_threads: ['gauge', 'informer', 'Other threads that have the cache.'],
  kubeloom_shared_states: [
    'gauge',
    'informer',
    'States that these threads have, summed over them: none of these is freed.',
  ],
  kubeloom_shared_bytes: ['gauge', 'informer', 'Bytes of these states, as received.'],
  kubeloom_shared_attached_total: ['counter', 'informer', 'Threads that have opened the cache.'],
  kubeloom_shared_detached_total: ['counter', 'informer', 'Threads that have ended or closed it.'],
  kubeloom_handler_pending: ['gauge', 'handler', 'Notifications that the handler has not received yet.'],
  kubeloom_handler_pending_bytes: ['gauge', 'handler', 'Bytes of the objects of pending notifications.'],
  kubeloom_handler_oldest_seconds: ['gauge', 'handler', 'Age of the oldest pending notification.'],
  kubeloom_handler_calls_total: ['counter', 'handler', 'Calls of the handler.'],
  kubeloom_handler_errors_total: ['counter', 'handler', 'Calls that threw or rejected.'],
  kubeloom_handler_coalesced_total: ['counter', 'handler', 'Notifications that were merged into others.'],
  kubeloom_handler_duration_seconds: [
    'histogram',
    'handler',
    'Duration of a call, its promise included; with the option measureDuration.',
  ],
  kubeloom_thread_cpu_seconds_total: ['counter', 'thread', 'CPU time of the thread.'],
  kubeloom_thread_records_total: ['counter', 'thread', 'Records that the thread has processed.'],
  kubeloom_thread_restarts_total: ['counter', 'thread', 'Replacements of the thread.'],
  kubeloom_thread_lost_wakeups_total: ['counter', 'thread', 'Work that was found without a wake-up.'],
  kubeloom_ring_used_bytes: ['gauge', 'threads', 'Bytes of a ring in use.', 'ring'],
  kubeloom_ring_capacity_bytes: ['gauge', 'threads', 'Size of each ring.'],
  kubeloom_log_used_bytes: ['gauge', 'threads', 'Blocks of the log with records that are not merged yet.'],
  kubeloom_log_capacity_bytes: ['gauge', 'threads', 'Size of the log between reflector and main thread.'],
  kubeloom_paused_seconds_total: [
    'counter',
    'threads',
    'Time without reading, because log or rings were full.',
    'cause',
  ],
  kubeloom_decoded_cache_hits_total: [
    'counter',
    'threads',
    'Reads of an object or its metadata that was still parsed.',
  ],
  kubeloom_decoded_cache_misses_total: [
    'counter',
    'threads',
    'Reads of an object or its metadata that had to be parsed.',
  ],
  kubeloom_decoded_cache_bytes: ['gauge', 'threads', 'Estimated heap bytes of cached parsed objects.'],
  rest_client_requests_total: ['counter', 'process', 'Requests of informers.', 'code', 'method', 'host'],
  rest_client_request_duration_seconds: [
    'histogram',
    'process',
    'Time from a request of an informer to the head of its response.',
    'verb',
    'host',
  ],
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
  controller_runtime_terminal_reconcile_errors_total: [
    'counter',
    'controller',
    'Reconciliations that failed and are not tried again.',
  ],
  controller_runtime_reconcile_time_seconds: ['histogram', 'controller', 'Duration of reconciliations.'],
  controller_runtime_max_concurrent_reconciles: ['gauge', 'controller', 'Workers of the controller.'],
  controller_runtime_active_workers: ['gauge', 'controller', 'Workers that reconcile at this moment.'],
  leader_election_master_status: [
    'gauge',
    'lease',
    '1 while this process is the leader, 0 while it is a candidate.',
  ],
  leader_election_slowpath_total: [
    'counter',
    'lease',
    'Renewals that needed more than one request: another program has changed the lease, or the request failed.',
  ],
  kubeloom_partitions_owned: ['gauge', 'partitions', 'Partitions that this member of a group owns.'],
  kubeloom_partitions_unserved: [
    'gauge',
    'partitions',
    'Partitions on which no member works, as far as this member sees.',
  ],
  kubeloom_partition_unserved_seconds: [
    'gauge',
    'partitions',
    'Time since which no member works on such a partition: the longest.',
  ],
  kubeloom_partition_changes_total: [
    'counter',
    'partitions',
    'Partitions that were taken, released or lost.',
    'change',
  ],
  kubeloom_partition_sync_seconds: [
    'histogram',
    'partitions',
    'Time from the claim of a partition until its caches were filled.',
  ],
  kubeloom_partition_drain_seconds: [
    'histogram',
    'partitions',
    'Time from the decision to hand a partition over until its work had ended.',
  ],
} as const;

/** Name of a metric. */
export type MetricName = keyof typeof METRICS;

/** Name, type and labels of a metric. */
export interface MetricDefinition {
  /** Name in Prometheus: `workqueue_depth`. */
  readonly name: MetricName;
  /** Type in Prometheus. */
  readonly type: MetricType;
  /** Meaning of the value, in a sentence. */
  readonly help: string;
  /** Names of the labels of each sample. */
  readonly labels: readonly string[];
}

/** Rows of the table, in order. */
export const METRIC_DEFINITIONS: readonly MetricDefinition[] = (
  Object.entries(METRICS) as [MetricName, Row][]
).map(([name, [type, scope, help, ...labels]]) => ({
  name,
  type,
  help,
  labels: [...SCOPES[scope], ...labels],
}));

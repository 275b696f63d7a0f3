/** Panels of the dashboard, by section. */
import { OVERVIEW } from './overview.ts';
import { quantiles, quantilesSinceStart, rate, series } from './queries.ts';
import type { Section } from './panel.ts';

const THIRD = 8;
const HALF = 12;
const HANDLER = '{{name}}: {{handler}}';

export const SECTIONS: readonly Section[] = [
  OVERVIEW,
  {
    title: 'Lists and watches',
    panels: [
      {
        kind: 'steps',
        title: 'Lists since the start',
        description: 'After the first list of each informer a step is a cache that was listed again.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (cause, result) (${series('kubeloom_lists_total')})`,
            legend: '{{cause}}: {{result}}',
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Duration of lists',
        description: 'Since the start: time until a list was received.',
        unit: 's',
        width: THIRD,
        queries: quantilesSinceStart('kubeloom_list_duration_seconds', ['mode'], '{{mode}}'),
      },
      {
        kind: 'steps',
        title: 'Ended watches since the start',
        description: 'A server ends every watch after 5 to 10 minutes.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (reason) (${series('kubeloom_watches_ended_total')})`,
            legend: '{{reason}}',
          },
        ],
      },
      {
        kind: 'areas',
        title: 'Events per second',
        description: 'Events of watches by type.',
        unit: 'short',
        width: HALF,
        queries: [
          { expression: `sum by (type) (${rate('kubeloom_watch_events_total')})`, legend: '{{type}}' },
        ],
      },
      {
        kind: 'areas',
        title: 'Received',
        description: 'Bytes of lists and watches a second.',
        unit: 'Bps',
        width: HALF,
        queries: [
          { expression: `sum by (verb) (${rate('kubeloom_received_bytes_total')})`, legend: '{{verb}}' },
        ],
      },
    ],
  },
  {
    title: 'Handlers',
    panels: [
      {
        kind: 'lines',
        title: 'Pending notifications',
        description: 'A line that rises without end is a handler that is too slow.',
        unit: 'short',
        width: THIRD,
        queries: [
          { expression: `sum by (name, handler) (${series('kubeloom_handler_pending')})`, legend: HANDLER },
        ],
      },
      {
        kind: 'lines',
        title: 'Oldest pending notification',
        description: 'Age of the notification that has waited longest.',
        unit: 's',
        width: THIRD,
        queries: [
          {
            expression: `max by (name, handler) (${series('kubeloom_handler_oldest_seconds')})`,
            legend: HANDLER,
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Latency of events',
        description: 'Time from the read of an event until its stage. One event in 64 is measured.',
        unit: 's',
        width: THIRD,
        queries: quantiles('kubeloom_latency_seconds', ['stage'], '{{stage}}'),
      },
      {
        kind: 'lines',
        title: 'Calls per second',
        description: 'Calls of handlers, those that failed, and notifications that were merged into others.',
        unit: 'short',
        width: HALF,
        queries: [
          {
            expression: `sum by (name, handler) (${rate('kubeloom_handler_calls_total')})`,
            legend: HANDLER,
          },
          {
            expression: `sum by (name, handler) (${rate('kubeloom_handler_errors_total')}) > 0`,
            legend: `${HANDLER}, failed`,
          },
          {
            expression: `sum by (name, handler) (${rate('kubeloom_handler_coalesced_total')}) > 0`,
            legend: `${HANDLER}, merged`,
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Duration of calls',
        description: 'Of handlers for which it is measured.',
        unit: 's',
        width: HALF,
        queries: quantiles('kubeloom_handler_duration_seconds', ['name', 'handler'], HANDLER),
      },
    ],
  },
  {
    title: 'Work queues and reconciles',
    panels: [
      {
        kind: 'lines',
        title: 'Depth',
        description: 'Items that wait in the queue.',
        unit: 'short',
        width: THIRD,
        queries: [{ expression: `sum by (name) (${series('workqueue_depth')})`, legend: '{{name}}' }],
      },
      {
        kind: 'lines',
        title: 'Added per second',
        description: 'Items added at once, and items added with a delay or by the rate limiter.',
        unit: 'short',
        width: THIRD,
        queries: [
          { expression: `sum by (name) (${rate('workqueue_adds_total')})`, legend: '{{name}}' },
          { expression: `sum by (name) (${rate('workqueue_retries_total')})`, legend: '{{name}}, delayed' },
        ],
      },
      {
        kind: 'lines',
        title: 'Time since the add',
        description: 'Until a worker took the item, and until it was done.',
        unit: 's',
        width: THIRD,
        queries: [
          ...quantiles('workqueue_queue_duration_seconds', ['name'], '{{name}}, taken'),
          ...quantiles('kubeloom_queue_latency_seconds', ['name'], '{{name}}, done'),
        ],
      },
      {
        kind: 'areas',
        title: 'Reconciles per second',
        description: 'By result.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (result) (${rate('controller_runtime_reconcile_total')})`,
            legend: '{{result}}',
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Duration of reconciles',
        description: 'Those that ended, and the item that has been in work for the longest time.',
        unit: 's',
        width: THIRD,
        queries: [
          ...quantiles('controller_runtime_reconcile_time_seconds', ['controller'], '{{controller}}'),
          {
            expression: `max by (name) (${series('workqueue_longest_running_processor_seconds')})`,
            legend: '{{name}}, in work',
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Workers',
        description: 'Workers that reconcile, and all workers.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (controller) (${series('controller_runtime_active_workers')})`,
            legend: '{{controller}}, busy',
          },
          {
            expression: `sum by (controller) (${series('controller_runtime_max_concurrent_reconciles')})`,
            legend: '{{controller}}, all',
          },
        ],
      },
    ],
  },
  {
    title: 'Threads and memory',
    panels: [
      {
        kind: 'areas',
        title: 'CPU',
        description: 'CPU seconds a second, by thread: 1 is a whole core.',
        unit: 'short',
        width: THIRD,
        queries: [
          { expression: `sum by (role) (${rate('kubeloom_thread_cpu_seconds_total')})`, legend: '{{role}}' },
        ],
      },
      {
        kind: 'lines',
        title: 'Fill of rings and log',
        description: 'A full one pauses the stage before it.',
        unit: 'percentunit',
        width: THIRD,
        queries: [
          {
            expression: `max by (ring) (${series('kubeloom_ring_used_bytes')} / on (job, instance, threads) group_left () ${series('kubeloom_ring_capacity_bytes')})`,
            legend: '{{ring}}',
          },
          {
            expression: `max(${series('kubeloom_log_used_bytes')} / on (job, instance, threads) ${series('kubeloom_log_capacity_bytes')})`,
            legend: 'log',
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Paused',
        description: 'Share of time in which a stage waits for space.',
        unit: 'percentunit',
        width: THIRD,
        queries: [
          { expression: `max by (cause) (${rate('kubeloom_paused_seconds_total')})`, legend: '{{cause}}' },
        ],
      },
      {
        kind: 'areas',
        title: 'Objects in memory',
        description:
          'Of caches and of notifications that handlers have not received: as received, packed, or decoded.',
        unit: 'bytes',
        width: THIRD,
        queries: [
          { expression: `sum by (state) (${series('kubeloom_store_bytes')})`, legend: '{{state}}' },
          { expression: `sum(${series('kubeloom_decoded_cache_bytes')})`, legend: 'decoded' },
        ],
      },
      {
        kind: 'lines',
        title: 'Hits of the decoded cache',
        description: 'Share of reads that found the object decoded.',
        unit: 'percentunit',
        width: THIRD,
        queries: [
          {
            expression: `sum(${rate('kubeloom_decoded_cache_hits_total')}) / (sum(${rate('kubeloom_decoded_cache_hits_total')}) + sum(${rate('kubeloom_decoded_cache_misses_total')}))`,
            legend: 'hits',
          },
        ],
      },
      {
        kind: 'steps',
        title: 'Replaced threads and lost wake-ups',
        description: 'Since the start. There should be none.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (role) (${series('kubeloom_thread_restarts_total')}) > 0`,
            legend: '{{role}} replaced',
          },
          {
            expression: `sum by (role) (${series('kubeloom_thread_lost_wakeups_total')}) > 0`,
            legend: '{{role}}: wake-up lost',
          },
        ],
      },
    ],
  },
  {
    title: 'Errors and requests',
    panels: [
      {
        kind: 'steps',
        title: 'Errors since the start',
        description: 'docs/operations.md says what to do about each code.',
        unit: 'short',
        width: THIRD,
        queries: [
          { expression: `sum by (code) (${series('kubeloom_errors_total')}) > 0`, legend: '{{code}}' },
          {
            expression: `sum by (reason) (${series('kubeloom_ignored_events_total')}) > 0`,
            legend: 'ignored event: {{reason}}',
          },
        ],
      },
      {
        kind: 'steps',
        title: 'Requests since the start',
        description: 'Requests of informers, by status.',
        unit: 'short',
        width: THIRD,
        queries: [
          {
            expression: `sum by (method, code) (${series('rest_client_requests_total')})`,
            legend: '{{method}} {{code}}',
          },
        ],
      },
      {
        kind: 'lines',
        title: 'Duration of requests',
        description: 'Since the start: time until the head of the response.',
        unit: 's',
        width: THIRD,
        queries: quantilesSinceStart('rest_client_request_duration_seconds', ['verb'], '{{verb}}'),
      },
    ],
  },
];

/**
 * `kubeloom/metrics`: metrics of everything in this process, and the messages on diagnostics channels.
 * `kubeloom/metrics/prometheus` and `kubeloom/metrics/opentelemetry` pass the metrics on.
 */
export type {
  BacklogMessage,
  ChannelMessages,
  ChannelName,
  InformerLabels,
  ListMessage,
  RequestMessage,
  SlowHandlerMessage,
  ThreadMessage,
  TimedMessage,
  WatchMessage,
} from './channels.ts';
export { collectMetrics } from './collect.ts';
export type { MetricFamily, MetricSample } from './collect.ts';
export type { HistogramData } from './histogram.ts';
export { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus-text.ts';
export { serveStats } from './serve-stats.ts';
export { statsSnapshot } from './snapshot.ts';
export type { ReportedError, StatsSnapshot } from './snapshot.ts';
export type { ServeStatsOptions, StatsServer } from './serve-stats.ts';
export type { MetricDefinition, MetricLabels, MetricName, MetricType } from './table.ts';

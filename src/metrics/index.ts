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
export { serveHealth } from './serve-health.ts';
export type { CheckedInformer, ServeHealthOptions } from './serve-health.ts';
export type { HealthCheck } from './health-checks.ts';
export type { TlsFiles } from './certificate-files.ts';
export type { HttpServer } from './http-server.ts';
export { serveStats } from './serve-stats.ts';
export { statsSnapshot } from './snapshot.ts';
export type { ReportedError, StatsSnapshot } from './snapshot.ts';
export type { ServeStatsOptions } from './serve-stats.ts';
export type { MetricDefinition, MetricLabels, MetricName, MetricType } from './metrics-table.ts';

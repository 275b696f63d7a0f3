/** What a work queue tells of itself while it works: bind these to gauges and histograms of your choice. */

export interface WorkQueueMetrics {
  /** Items that were taken in; those that waited already do not count. */
  added?(): void;
  depth?(items: number): void;
  /** From add to get. */
  waited?(durationMs: number): void;
  /** From get to done. */
  worked?(durationMs: number): void;
  /** An item was added with a delay or by a rate limiter. */
  retried?(): void;
}

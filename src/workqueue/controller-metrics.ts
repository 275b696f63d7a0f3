/** Metrics of the workers of a queue, with controller-runtime's names, results and buckets. */
import { registerMetrics } from '../metrics/collect.ts';
import type { AddSample, MetricRegistration, MetricSource } from '../metrics/collect.ts';
import { Histogram } from '../metrics/histogram.ts';
import type { Outcome, Reconciled } from '../metrics/trace-channels.ts';
import { isTerminal } from './terminal-error.ts';

const SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

export class ControllerMetrics implements MetricSource {
  readonly metricsKind = 'controller';
  readonly metricsName: string;
  readonly #workers: number;
  readonly #registration: MetricRegistration;
  readonly #seconds: Histogram;
  readonly #outcomes: Record<Outcome, number> = { success: 0, requeue_after: 0, error: 0 };
  #terminalErrors = 0;
  #active = 0;

  constructor(name: string, workers: number) {
    this.metricsName = name;
    this.#workers = workers;
    this.#registration = registerMetrics(this);
    const controller = this.#registration.name;
    this.#seconds = new Histogram('controller_runtime_reconcile_time_seconds', { controller }, SECONDS);
  }

  began(): void {
    this.#active++;
  }

  reconciled({ outcome, error }: Reconciled, durationMs: number): void {
    this.#active--;
    this.#outcomes[outcome]++;
    if (outcome === 'error' && isTerminal(error)) this.#terminalErrors++;
    this.#seconds.observe(durationMs / 1000);
  }

  ended(): void {
    this.#registration.end();
  }

  addMetrics(add: AddSample, controller: string): void {
    for (const [result, count] of Object.entries(this.#outcomes))
      add('controller_runtime_reconcile_total', { controller, result }, count);
    add('controller_runtime_reconcile_errors_total', { controller }, this.#outcomes.error);
    add('controller_runtime_terminal_reconcile_errors_total', { controller }, this.#terminalErrors);
    add('controller_runtime_reconcile_time_seconds', { controller }, this.#seconds.data);
    add('controller_runtime_max_concurrent_reconciles', { controller }, this.#workers);
    add('controller_runtime_active_workers', { controller }, this.#active);
  }
}

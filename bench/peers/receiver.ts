/**
 * A JavaScript client's measurements of an informer's events: a case of the benchmark, for every client. The program
 * connects its handlers to `added` and `modified` and waits for `result`.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { Task } from '../task.ts';
import { collectedHeapBytes } from './collected-heap.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { Meter } from './meter.ts';
import type { Result } from './program.ts';

const SETTLE_MS = 3000;

export class Receiver {
  readonly result: Promise<Result>;
  readonly #task: Task;
  readonly #expectedAdds: number;
  readonly #expectedEvents: number;
  readonly #warmUpEvents: number;
  readonly #meter: Meter = new Meter();
  readonly #latency: LatencyHistogram | undefined;
  readonly #heapBytesBefore: number;
  #finish: (result: Result) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #added = 0;
  #modified = 0;
  #checksum = 0;

  constructor(task: Task) {
    this.#task = task;
    const handlers = task.handlers ?? 1;
    this.#expectedAdds = task.objects * (task.informers ?? 1) * handlers;
    this.#expectedEvents = task.events * handlers;
    this.#warmUpEvents = (task.warmUpEvents ?? 0) * handlers;
    this.#latency = task.case === 'latency' ? new LatencyHistogram() : undefined;
    this.#heapBytesBefore = task.case === 'memory' ? collectedHeapBytes() : 0;
    this.result = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
  }

  /** Counts a delivered object of the initial list. */
  added(keyLength: number): void {
    this.#checksum += keyLength;
    if (++this.#added !== this.#expectedAdds) return;
    const { case: kind, events } = this.#task;
    if (kind === 'sync') this.#measured(this.#added);
    else if (kind === 'memory' && events === 0) this.#settle(this.#added);
  }

  /** Counts a delivered change. @param sentUs from the object's annotation, only needed for `latency` */
  modified(keyLength: number, sentUs: number = 0): void {
    this.#checksum += keyLength;
    if (this.#modified === this.#warmUpEvents && this.#task.case !== 'memory') this.#meter.start();
    if (this.#modified >= this.#warmUpEvents) this.#latency?.record(sentUs);
    if (++this.#modified !== this.#expectedEvents) return;
    const events = (this.#modified - this.#warmUpEvents) / (this.#task.handlers ?? 1);
    if (this.#task.case === 'memory') this.#settle(events);
    else this.#measured(events);
  }

  failed(error: unknown): void {
    this.#fail(error);
  }

  #measured(events: number): void {
    const latency = this.#latency?.latency;
    this.#finish({
      events,
      checksum: this.#checksum,
      ...this.#meter.stop(),
      ...(latency === undefined ? {} : { latency }),
    });
  }

  #settle(events: number): void {
    const measured = this.#meter.stop();
    void after(this.#task.settleMs ?? SETTLE_MS).then(() => {
      const { rss, arrayBuffers } = process.memoryUsage();
      this.#finish({
        events,
        checksum: this.#checksum,
        ...measured,
        settledBytes: rss,
        heapBytes: collectedHeapBytes() - this.#heapBytesBefore,
        bufferBytes: arrayBuffers,
      });
    });
  }
}

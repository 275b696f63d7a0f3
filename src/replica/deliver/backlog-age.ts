/**
 * Measures how long the oldest pending notification has been waiting, without a time in each notification. After each
 * merge the drain marks the end of the queue with the current time.
 */
import { ChunkedQueue } from './chunked-queue.ts';

/** Marks less than this apart become one. The backlog of one hour has 36,000 marks. */
const RESOLUTION_MS = 100;

export class BacklogAge {
  /** Pairs of a position and the arrival time of the oldest notification before it. */
  readonly #marks: ChunkedQueue<number, number> = new ChunkedQueue();
  /** End and time of the latest mark, which may still grow; `#end` is -1 without a mark. */
  #end = -1;
  #atMs = 0;

  /** Records that at `nowMs` the positions from `oldest` to below `end` are pending. */
  mark(oldest: number, end: number, nowMs: number): void {
    this.#forget(oldest);
    if (end === oldest || end === this.#end) return;
    if (this.#end >= 0 && nowMs - this.#atMs < RESOLUTION_MS) {
      this.#end = end;
      return;
    }
    if (this.#end >= 0) this.#marks.push(this.#end, this.#atMs);
    this.#end = end;
    this.#atMs = nowMs;
  }

  /** Returns 0 when no pending notification has been marked yet. */
  ageMs(oldest: number, nowMs: number): number {
    this.#forget(oldest);
    if (this.#marks.length > 0) return nowMs - (this.#marks.second ?? nowMs);
    return this.#end >= 0 ? nowMs - this.#atMs : 0;
  }

  #forget(oldest: number): void {
    while (this.#marks.length > 0 && (this.#marks.first ?? 0) <= oldest) this.#marks.shift();
    if (this.#marks.length === 0 && this.#end <= oldest) this.#end = -1;
  }
}

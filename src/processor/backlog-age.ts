/**
 * How long the oldest pending notification has been waiting, without a time in every one: the drain marks
 * after each merge how far the ring had been filled by then.
 */
import { GrowingRing } from './growing-ring.ts';

/** Marks closer together become one, so a backlog of an hour has 36,000 of them. */
const RESOLUTION_MS = 100;

export class BacklogAge {
  /** Position before which everything had come, and the time of its oldest, in pairs. */
  readonly #marks: GrowingRing<number, number> = new GrowingRing();
  /** The latest mark, which may still grow; its end is -1 while there is none. */
  #end = -1;
  #atMs = 0;

  /** At `nowMs` the positions from `oldest` to below `end` were pending. */
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

  /** 0 when nothing that is pending was marked yet. */
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

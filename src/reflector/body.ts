/**
 * What reads a response, chosen by its status and verb, and what it needs of the reflector for that.
 */
import type { Clock } from '../clock.ts';
import type { KubeloomError } from '../errors.ts';
import type { Input } from './inbox.ts';
import type { Flushing } from './input.ts';
import type { ListingMeter } from './listing-meter.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { Failure, Progress, ReflectorEvent } from './state.ts';

export interface Body {
  /** How far a watch has come; undefined for everything else. */
  readonly progress: Progress | undefined;
  /** Takes what there is room for, from `start` on. @returns the first index that was not taken */
  write(chunk: Buffer, start: number): number;
  /** The response is complete, or this is why it is not. */
  end(error: KubeloomError | undefined): void;
  /** Stops and starts whatever measures time. */
  pause(): void;
  resume(): void;
  /** Nothing more will come. */
  close(): void;
}

export interface BodyOwner extends Flushing {
  readonly clock: Clock;
  readonly writer: ObjectWriter;
  readonly meter: ListingMeter;
  /** Something happened outside of `write` and `end`. */
  offer(input: Input): void;
  /** Takes one step; its effects follow with the next `flush`, before which no more may be written. */
  dispatch(event: ReflectorEvent): void;
  fail(failure: Failure): void;
  report(during: Failure['during'], error: KubeloomError): void;
  /** False when there is no room. */
  offerBookmark(resourceVersion: string): boolean;
}

/** The exchange that a body belongs to: closed when an effect of something in the body ended it. */
export interface Closable {
  readonly isClosed: boolean;
  /** From now on something comes at least so often, or the connection is dead. */
  expectWithin(silenceMaxMs: number): void;
}

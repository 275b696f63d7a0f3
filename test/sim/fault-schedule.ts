/** Faults of one seed. Each seed has only a few kinds, so that none hides another, and its own rates. */
import type { Chance } from './chance.ts';

/** Faults of requests, instead of an answer. */
export const REQUEST_FAULTS = [
  'unreachable',
  'reset before the answer',
  'hang before the answer',
  'too many requests',
  'internal error',
  'unavailable',
  'forbidden',
  'unauthorized',
  'not found',
  'list cut',
] as const;
/** Faults of open watches and streaming lists. */
export const STREAM_FAULTS = [
  'clean end',
  'cut',
  'clean end within a line',
  'silence',
  'gone in stream',
  'internal error in stream',
  'too many requests in stream',
  'malformed line',
  'event again',
  'old bookmark',
] as const;
/** Faults of the whole server, and of this process. */
export const OTHER_FAULTS = [
  'compaction',
  'no streaming lists',
  'tokens expire',
  'bodies change under their versions',
  'main thread blocked',
  'shards slow',
  'network slow',
  'handler throws',
  'handler rejects',
  'handler slow',
  'handlers come and go',
  'shard dies',
  'reflector dies',
] as const;

export type RequestFault = (typeof REQUEST_FAULTS)[number];
export type StreamFault = (typeof STREAM_FAULTS)[number];
export type Fault = RequestFault | StreamFault | (typeof OTHER_FAULTS)[number];

export const FAULTS: readonly Fault[] = [...REQUEST_FAULTS, ...STREAM_FAULTS, ...OTHER_FAULTS];

/** Probability of each kind in a seed. */
const SHARE = 0.3;

export class FaultSchedule {
  readonly enabled: ReadonlySet<Fault>;
  /** Probability that a request is struck. */
  readonly requestRate: number;
  /** Weight of faults of streams and server among the possible next steps. */
  readonly streamWeight: number;
  readonly landed: Map<Fault, number> = new Map();
  isOver = false;

  constructor(chance: Chance) {
    this.enabled = new Set(FAULTS.filter(() => chance.happens(SHARE)));
    this.requestRate = chance.magnitude(0.02, 0.5);
    this.streamWeight = chance.magnitude(0.005, 0.1);
  }

  has(fault: Fault): boolean {
    return !this.isOver && this.enabled.has(fault);
  }

  /** Counts a fault that has struck. */
  strike(fault: Fault): void {
    this.landed.set(fault, (this.landed.get(fault) ?? 0) + 1);
  }

  request(chance: Chance): RequestFault | undefined {
    if (this.isOver || !chance.happens(this.requestRate)) return undefined;
    return chance.pick(REQUEST_FAULTS.filter((fault) => this.enabled.has(fault)));
  }

  stream(chance: Chance): StreamFault | undefined {
    return chance.pick(STREAM_FAULTS.filter((fault) => this.has(fault)));
  }
}

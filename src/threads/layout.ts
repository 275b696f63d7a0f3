/**
 * The shared memory of one pipeline: the log, two rings a shard, and a block of words.
 *
 * | line | writer | meaning |
 * |---|---|---|
 * | committed | reflector | last sequence visible in all rings |
 * | merged | main | last sequence merged: gate of the log |
 * | reflector bell (2) | shards and main / reflector | room appeared / ring me |
 * | main bell (2) | shards / main | notifications / ring me |
 * | reflector heartbeat | reflector | grows four times a second |
 * | per shard: bell (2) | reflector and main / shard | deltas or room / ring me |
 * | per shard: consumed | shard | last sequence it is done with |
 * | per shard: inFlight | shard | the sequence it is working on |
 * | per shard: heartbeat | shard | grows with every turn of its loop |
 */
import { allocateLog } from '../log/log-writer.ts';
import { BELL_LINES, Bell } from '../ring/bell.ts';
import { allocateRing } from '../ring/ring.ts';
import { Word, allocateWords } from '../ring/word.ts';

const COMMITTED_LINE = 0;
const MERGED_LINE = 1;
const REFLECTOR_BELL_LINE = 2;
const MAIN_BELL_LINE: number = REFLECTOR_BELL_LINE + BELL_LINES;
const REFLECTOR_HEARTBEAT_LINE: number = MAIN_BELL_LINE + BELL_LINES;
const SHARDS_LINE: number = REFLECTOR_HEARTBEAT_LINE + 1;
const LINES_PER_SHARD: number = BELL_LINES + 3;

/** Structured-cloneable: this is what a worker gets. */
export interface PipelineMemory {
  readonly log: SharedArrayBuffer;
  readonly words: SharedArrayBuffer;
  /** Deltas, one ring a shard. */
  readonly toShard: readonly SharedArrayBuffer[];
  /** Notifications, one ring a shard. */
  readonly toMain: readonly SharedArrayBuffer[];
}

export interface ShardWords {
  readonly bell: Bell;
  readonly consumed: Word;
  readonly inFlight: Word;
  readonly heartbeat: Word;
}

/** @param firstSequence where sequences begin; tests start near the wrap of u32 */
export function allocatePipeline(
  shards: number,
  logBytes: number,
  ringBytes: number,
  firstSequence = 0,
): PipelineMemory {
  const memory = {
    log: allocateLog(logBytes),
    words: allocateWords(SHARDS_LINE + shards * LINES_PER_SHARD),
    toShard: Array.from({ length: shards }, () => allocateRing(ringBytes)),
    toMain: Array.from({ length: shards }, () => allocateRing(ringBytes)),
  };
  const words = new PipelineWords(memory);
  words.committed.store(firstSequence);
  words.merged.store(firstSequence);
  for (let shard = 0; shard < shards; shard++) words.shard(shard).consumed.store(firstSequence);
  return memory;
}

/** What a bell of the in-process twin does beside counting. */
export type OnRing = () => void;

export class PipelineWords {
  readonly committed: Word;
  readonly merged: Word;
  readonly reflectorBell: Bell;
  readonly mainBell: Bell;
  readonly reflectorHeartbeat: Word;
  readonly #words: Int32Array;
  readonly #onRing: OnRing | undefined;

  constructor(memory: PipelineMemory, onRing?: OnRing) {
    this.#words = new Int32Array(memory.words);
    this.#onRing = onRing;
    this.committed = new Word(this.#words, COMMITTED_LINE);
    this.merged = new Word(this.#words, MERGED_LINE);
    this.reflectorBell = new Bell(this.#words, REFLECTOR_BELL_LINE, onRing);
    this.mainBell = new Bell(this.#words, MAIN_BELL_LINE, onRing);
    this.reflectorHeartbeat = new Word(this.#words, REFLECTOR_HEARTBEAT_LINE);
  }

  shard(index: number): ShardWords {
    const line = SHARDS_LINE + index * LINES_PER_SHARD;
    return {
      bell: new Bell(this.#words, line, this.#onRing),
      consumed: new Word(this.#words, line + BELL_LINES),
      inFlight: new Word(this.#words, line + BELL_LINES + 1),
      heartbeat: new Word(this.#words, line + BELL_LINES + 2),
    };
  }

  /**
   * The sequence that every reader of the log has passed. `merged` alone: a sequence is merged after its shard
   * has answered it, and a shard does not look at a record's bytes again after that. Waiting for `consumed` of
   * every shard as well would let an idle shard hold the log back until it wakes up.
   */
  gate(): () => number {
    return () => this.merged.load();
  }
}

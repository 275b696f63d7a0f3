/**
 * The memory of a pipeline. The log, two rings for each shard, and a block of words are shared; each thread keeps a copy
 * of the random key of the key hash.
 *
 * | line | writer | meaning |
 * |---|---|---|
 * | committed | reflector | last sequence visible in all rings |
 * | merged | main | last merged sequence: the log is free up to it |
 * | reflector bell (2) | shards and main / reflector | room in a ring / parked flag |
 * | main bell (2) | shards / main | notifications / parked flag |
 * | control bell (2) | main / reflector | a message to the reflector / parked flag |
 * | reflector heartbeat | reflector | grows when the supervisor asks for it |
 * | per shard: bell (2) | reflector and main / shard | deltas or room / parked flag |
 * | per shard: consumed | shard | last completed sequence |
 * | per shard: working | shard | informer of the record in progress, or 0 |
 * | per shard: heartbeat | shard | grows with every turn of the loop, and with every record |
 */
import { allocateLog } from './log/log.ts';
import { randomHashKey } from './record/key-hash.ts';
import type { HashKey } from './record/key-hash.ts';
import { BELL_LINES, Bell } from './ring/bell.ts';
import { RingMemory, allocateRing } from './ring/ring.ts';
import { Word, allocateWords } from './ring/word.ts';
import { allocateStamps } from './stamps.ts';
import { allocateUsage } from './thread-usage.ts';

const COMMITTED_LINE = 0;
const MERGED_LINE = 1;
const REFLECTOR_BELL_LINE = 2;
const MAIN_BELL_LINE: number = REFLECTOR_BELL_LINE + BELL_LINES;
const CONTROL_BELL_LINE: number = MAIN_BELL_LINE + BELL_LINES;
const REFLECTOR_HEARTBEAT_LINE: number = CONTROL_BELL_LINE + BELL_LINES;
const SHARDS_LINE: number = REFLECTOR_HEARTBEAT_LINE + 1;
const LINES_PER_SHARD: number = BELL_LINES + 3;

/** The memory that each worker receives; structured-cloneable. */
export interface PipelineMemory {
  readonly log: SharedArrayBuffer;
  readonly words: SharedArrayBuffer;
  /** Rings of deltas, by shard. */
  readonly toShard: readonly SharedArrayBuffer[];
  /** Rings of notifications, by shard. */
  readonly toMain: readonly SharedArrayBuffer[];
  /** Figures that the reflector's thread publishes, and then those of each shard. */
  readonly usage: readonly SharedArrayBuffer[];
  /** Times of sampled events, from the reflector to the main thread. */
  readonly stamps: SharedArrayBuffer;
  /** Never changes. */
  readonly hashKey: HashKey;
}

export interface ShardWords {
  readonly bell: Bell;
  readonly consumed: Word;
  readonly working: Word;
  readonly heartbeat: Word;
}

/**
 * @param firstSequence the first sequence; tests start near the wrap of u32
 * @param hashKey the key of the key hash; simulations give a fixed key, so that a seed repeats
 */
export function allocatePipeline(
  shards: number,
  logBytes: number,
  ringBytes: number,
  firstSequence = 0,
  hashKey: HashKey = randomHashKey(),
): PipelineMemory {
  const memory = {
    log: allocateLog(logBytes),
    words: allocateWords(SHARDS_LINE + shards * LINES_PER_SHARD),
    toShard: Array.from({ length: shards }, () => allocateRing(ringBytes)),
    toMain: Array.from({ length: shards }, () => allocateRing(ringBytes)),
    usage: Array.from({ length: 1 + shards }, () => allocateUsage()),
    stamps: allocateStamps(logBytes),
    hashKey,
  };
  const words = new PipelineWords(memory);
  words.committed.store(firstSequence);
  words.merged.store(firstSequence);
  for (let shard = 0; shard < shards; shard++) words.shard(shard).consumed.store(firstSequence);
  return memory;
}

/**
 * Empties the rings after all threads have ended, for new threads: their sequences follow the last merged sequence.
 */
export function emptyPipeline(memory: PipelineMemory, merged: number): void {
  const words = new PipelineWords(memory);
  words.merged.store(merged);
  words.committed.store(merged);
  for (const [shard, buffer] of memory.toShard.entries()) {
    new RingMemory(buffer).clear();
    words.shard(shard).consumed.store(merged);
    words.shard(shard).working.store(0);
  }
  for (const buffer of memory.toMain) new RingMemory(buffer).clear();
}

/** Callback of a bell in the in-process backend, in addition to counting. */
export type OnRing = () => void;

export class PipelineWords {
  readonly committed: Word;
  readonly merged: Word;
  readonly reflectorBell: Bell;
  readonly mainBell: Bell;
  /** Rung for each message to the reflector, which may sleep between two reads. */
  readonly controlBell: Bell;
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
    this.controlBell = new Bell(this.#words, CONTROL_BELL_LINE);
    this.reflectorHeartbeat = new Word(this.#words, REFLECTOR_HEARTBEAT_LINE);
  }

  shard(index: number): ShardWords {
    const line = SHARDS_LINE + index * LINES_PER_SHARD;
    return {
      bell: new Bell(this.#words, line, this.#onRing),
      consumed: new Word(this.#words, line + BELL_LINES),
      working: new Word(this.#words, line + BELL_LINES + 1),
      heartbeat: new Word(this.#words, line + BELL_LINES + 2),
    };
  }
}

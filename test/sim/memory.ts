/** Shared memory of a simulated pipeline: small, with counters and positions anywhere. */
import { BLOCK_BYTES } from '../../src/shared/log/log-layout.ts';
import { allocatePipeline } from '../../src/shared/pipeline-layout.ts';
import type { PipelineMemory } from '../../src/shared/pipeline-layout.ts';
import { allocateRing } from '../../src/shared/ring/ring.ts';
import type { Chance } from './chance.ts';

/** Start of the u32 counters, close enough to their wrap to pass it. */
const NEAR_WRAP = 2 ** 32 - 256;
/** Fixed, so that a repeated seed sends keys to the same shards. */
const HASH_KEY = Int32Array.of(1, 2);

/** Returns memory of one to four shards, with the smallest rings and log and counters at random positions. */
export function randomMemory(chance: Chance): PipelineMemory {
  const shards = chance.integer(1, 4);
  const firstSequence = chance.happens(0.5) ? NEAR_WRAP + chance.integer(0, 255) : 0;
  const ringBytes = 2 ** chance.integer(14, 16);
  const start = chance.happens(0.5) ? 2 ** 32 - 8192 : 0;
  const rings = (): SharedArrayBuffer[] =>
    Array.from({ length: shards }, () => allocateRing(ringBytes, start));
  const logBytes = BLOCK_BYTES * chance.integer(1, 2);
  const memory = allocatePipeline(shards, logBytes, 2 ** 14, firstSequence, HASH_KEY);
  return { ...memory, toShard: rings(), toMain: rings() };
}

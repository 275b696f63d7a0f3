/** Construction of one shard over the shared memory, for a worker thread and for the in-process twin. */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { Shard } from './shard.ts';
import { RingConsumer } from '../shared/ring/consumer.ts';
import { RingProducer } from '../shared/ring/producer.ts';
import { RingMemory } from '../shared/ring/ring.ts';
import { PipelineWords } from '../shared/layout.ts';
import type { OnRing, PipelineMemory, ShardWords } from '../shared/layout.ts';
import type { ControlPort, FromShard, ToShard } from '../shared/protocol.ts';

export interface ShardHost {
  readonly shard: Shard;
  readonly words: ShardWords;
}

export interface ShardHostOptions {
  readonly onRing?: OnRing;
  readonly clock?: Clock;
  /** Whether it replaces a shard that ended; then it waits for `resume`. */
  readonly isSuccessor?: boolean;
}

export function createShard(
  index: number,
  memory: PipelineMemory,
  port: ControlPort<ToShard, FromShard>,
  { onRing, clock = realClock, isSuccessor = false }: ShardHostOptions = {},
): ShardHost {
  const words = new PipelineWords(memory, onRing);
  const own = words.shard(index);
  const input = memory.toShard[index];
  const output = memory.toMain[index];
  if (!input || !output) throw new RangeError(`no rings for shard ${index}`);
  const shard = new Shard({
    ring: new RingConsumer(new RingMemory(input)),
    out: new RingProducer(new RingMemory(output)),
    log: Buffer.from(memory.log),
    committed: words.committed,
    consumed: own.consumed,
    inFlight: own.inFlight,
    heartbeat: own.heartbeat,
    mainBell: words.mainBell,
    reflectorBell: words.reflectorBell,
    port,
    clock,
    isSuccessor,
  });
  return { shard, words: own };
}

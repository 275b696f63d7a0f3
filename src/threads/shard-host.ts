/** One shard over the shared memory: the same for a worker thread and for the in-process twin. */
import { Shard } from '../indexer/shard.ts';
import { RingConsumer } from '../ring/consumer.ts';
import { RingProducer } from '../ring/producer.ts';
import { RingMemory } from '../ring/ring.ts';
import { PipelineWords } from './layout.ts';
import type { OnRing, PipelineMemory, ShardWords } from './layout.ts';
import type { ControlPort, FromShard, ToShard } from './protocol.ts';

export interface ShardHost {
  readonly shard: Shard;
  readonly words: ShardWords;
}

export interface ShardHostOptions {
  readonly onRing?: OnRing;
  /** In the place of one that ended: it waits for `resume`. */
  readonly isSuccessor?: boolean;
}

export function createShard(
  index: number,
  memory: PipelineMemory,
  port: ControlPort<ToShard, FromShard>,
  { onRing, isSuccessor = false }: ShardHostOptions = {},
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
    mainBell: words.mainBell,
    reflectorBell: words.reflectorBell,
    port,
    isSuccessor,
  });
  return { shard, words: own };
}

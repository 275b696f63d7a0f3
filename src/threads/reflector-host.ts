/** The reflector over the shared memory: the same for its worker thread and for the in-process twin. */
import { realClock } from '../clock.ts';
import type { Clock, Random } from '../clock.ts';
import { LogWriter } from '../log/log-writer.ts';
import { ReflectorThread } from '../reflector/reflector-thread.ts';
import { Router } from '../reflector/router.ts';
import { RingProducer } from '../ring/producer.ts';
import { RingMemory } from '../ring/ring.ts';
import { UndiciTransport } from '../transport/http.ts';
import { PipelineWords } from './layout.ts';
import type { OnRing, PipelineMemory } from './layout.ts';
import type { ControlPort, FromReflector, ToReflector } from './protocol.ts';

export interface ReflectorHostOptions {
  readonly memory: PipelineMemory;
  readonly port: ControlPort<ToReflector, FromReflector>;
  readonly onRing?: OnRing;
  /** Something found no room: call `doWork` when there may be some. */
  readonly onBacklog: () => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

export function createReflector(options: ReflectorHostOptions): ReflectorThread {
  const { memory, port, onRing } = options;
  const words = new PipelineWords(memory, onRing);
  const router = new Router({
    rings: memory.toShard.map((buffer) => new RingProducer(new RingMemory(buffer))),
    bells: memory.toShard.map((_, index) => words.shard(index).bell),
    committed: words.committed,
    log: new LogWriter(memory.log, words.gate()),
  });
  return new ReflectorThread({
    router,
    port,
    onBacklog: options.onBacklog,
    clock: options.clock ?? realClock,
    random: options.random ?? Math.random,
    transportFor: (connection) => new UndiciTransport(connection),
  });
}

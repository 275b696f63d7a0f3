/** The reflector over the shared memory: the same for its worker thread and for the in-process twin. */
import { realClock } from '../clock.ts';
import type { Clock, Random } from '../clock.ts';
import { LogWriter } from '../log/log-writer.ts';
import { sequenceAt } from '../record/delta.ts';
import { ReflectorThread } from '../reflector/reflector-thread.ts';
import { Router } from '../reflector/router.ts';
import { RingProducer } from '../ring/producer.ts';
import { RingMemory } from '../ring/ring.ts';
import { voidRecords } from '../ring/void-records.ts';
import { compareU32 } from '../ring/word.ts';
import { DirectTransport } from '../transport/direct-transport.ts';
import type { HttpTransport } from '../transport/http.ts';
import { FeedTransports } from './feed-transport.ts';
import { PipelineWords } from './layout.ts';
import type { OnRing, PipelineMemory } from './layout.ts';
import type { ConnectionOptions, ControlPort, FromReflectorThread, ToReflectorThread } from './protocol.ts';

export interface ReflectorHostOptions {
  readonly memory: PipelineMemory;
  readonly port: ControlPort<ToReflectorThread, FromReflectorThread>;
  readonly onRing?: OnRing;
  /** Something found no room: call `doWork` when there may be some. */
  readonly onBacklog: () => void;
  /** Of one read of a socket, at most. Default: what is good for a thread that has other things to do. */
  readonly readBytes?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: sockets of its own. */
  readonly transportFor?: (connection: ConnectionOptions) => HttpTransport;
}

export function createReflector(options: ReflectorHostOptions): ReflectorThread {
  const { memory, onRing, readBytes } = options;
  const reading = readBytes === undefined ? {} : { readBytes };
  const feeds = new FeedTransports(options.port);
  const { transportFor = (connection) => new DirectTransport(connection, reading) } = options;
  const words = new PipelineWords(memory, onRing);
  voidUncommitted(memory, words.committed.load());
  const router = new Router({
    rings: memory.toShard.map((buffer) => new RingProducer(new RingMemory(buffer))),
    bells: memory.toShard.map((_, index) => words.shard(index).bell),
    committed: words.committed,
    log: new LogWriter(memory.log, words.gate()),
  });
  return new ReflectorThread({
    router,
    port: feeds.port,
    onBacklog: options.onBacklog,
    clock: options.clock ?? realClock,
    random: options.random ?? Math.random,
    transportFor: (connection) =>
      connection.feed === undefined ? transportFor(connection) : feeds.transportFor(connection.feed),
  });
}

/**
 * What a predecessor had published in some of the rings and not committed does not count: its sequences are given
 * out anew. (Of the log nothing is left that anybody may read: a successor begins when all is merged.)
 */
function voidUncommitted(memory: PipelineMemory, committed: number): void {
  for (const buffer of memory.toShard) {
    const ring = new RingMemory(buffer);
    voidRecords(ring, (offset) => compareU32(sequenceAt(ring.words, offset), committed) > 0);
  }
}

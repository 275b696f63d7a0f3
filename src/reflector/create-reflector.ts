/** The reflector over the shared memory: the same for its worker thread and for the in-process backend. */
import { realClock } from '../base/clock.ts';
import type { Clock, Random } from '../base/clock.ts';
import { LogWriter } from '../shared/log/log-writer.ts';
import { sequenceAt } from '../shared/record/delta.ts';
import { ReflectorThread } from './reflector-thread.ts';
import { Router } from './router.ts';
import { RingProducer } from '../shared/ring/producer.ts';
import { RingMemory } from '../shared/ring/ring.ts';
import { discardRecords } from '../shared/ring/discarded-records.ts';
import { compareU32 } from '../shared/ring/word.ts';
import { Http1Transport } from './transport/http1-transport.ts';
import type { HttpTransport } from './transport/http.ts';
import { FeedTransports } from './transport/feed-transport.ts';
import { PipelineWords } from '../shared/layout.ts';
import type { OnRing, PipelineMemory } from '../shared/layout.ts';
import type {
  ConnectionOptions,
  ControlPort,
  FromReflectorThread,
  ToReflectorThread,
} from '../shared/protocol.ts';

export interface ReflectorHostOptions {
  readonly memory: PipelineMemory;
  readonly port: ControlPort<ToReflectorThread, FromReflectorThread>;
  readonly onRing?: OnRing;
  /** Called when something found no room: call `doWork` when there may be room again. */
  readonly onBacklog: () => void;
  /** Upper bound of one read of a socket, in bytes. The default suits a thread that also does other work. */
  readonly readBytes?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: sockets. */
  readonly transportFor?: (connection: ConnectionOptions) => HttpTransport;
}

export function createReflector(options: ReflectorHostOptions): ReflectorThread {
  const { memory, onRing, readBytes } = options;
  const reading = readBytes === undefined ? {} : { readBytes };
  const feeds = new FeedTransports(options.port);
  const { transportFor = (connection) => new Http1Transport(connection, reading) } = options;
  const words = new PipelineWords(memory, onRing);
  discardUncommitted(memory, words.committed.load());
  const router = new Router({
    rings: memory.toShard.map((buffer) => new RingProducer(new RingMemory(buffer))),
    bells: memory.toShard.map((_, index) => words.shard(index).bell),
    committed: words.committed,
    log: new LogWriter(memory.log, words.gate()),
    hashKey: memory.hashKey,
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
 * Discards records that a predecessor published in some rings and did not commit: their sequences are used
 * again. The log needs nothing: a successor starts when all records are merged.
 */
function discardUncommitted(memory: PipelineMemory, committed: number): void {
  for (const buffer of memory.toShard) {
    const ring = new RingMemory(buffer);
    discardRecords(ring, (offset) => compareU32(sequenceAt(ring.words, offset), committed) > 0);
  }
}

/**
 * How a shard that ended is replaced. All that it had published is merged first, so the replica is exactly what the
 * shard knew behind its last finished record; its successor is told that, and goes on with what still lies in the
 * ring: a shard gives a record back only when its answer is published. So every record is answered once, in order.
 */
import type { Processor } from '../processor/processor.ts';
import { compareU32 } from '../ring/word.ts';
import type { Attachments } from './attachment.ts';
import type { Backend } from './backend.ts';
import { keySeeds } from './key-seeds.ts';
import type { ShardWords } from './layout.ts';
import type { ToShard } from './protocol.ts';
import type { Supervised } from './supervisor.ts';

export interface ShardRecoveryOptions {
  readonly shard: number;
  readonly backend: Backend;
  readonly processor: Processor;
  readonly words: ShardWords;
  readonly attachments: Attachments;
  /** The successor was started. */
  readonly succeeded: () => void;
}

export class ShardRecovery implements Supervised {
  readonly role: number;
  readonly #options: ShardRecoveryOptions;
  /** What the successor is still to be told. */
  #messages: Iterator<ToShard> | undefined;
  #quarantined: number[] = [];

  constructor(options: ShardRecoveryOptions) {
    this.role = options.shard;
    this.#options = options;
  }

  heartbeat(): number | undefined {
    return this.#options.backend.heartbeat(this.role);
  }

  end(): Promise<void> {
    // Told nothing more: it may be a successor that ended before it knew all.
    this.#messages = undefined;
    return this.#options.backend.end(this.role);
  }

  isDrained(): boolean {
    return this.#options.processor.isDrained(this.role);
  }

  unfinished(): number | undefined {
    const { words, processor } = this.#options;
    const sequence = words.inFlight.load();
    return compareU32(sequence, processor.merged) > 0 ? sequence : undefined;
  }

  replace(poison: number | undefined): void {
    const { backend, processor, words, succeeded } = this.#options;
    processor.discardUnfinished(this.role);
    this.#quarantined = this.#quarantined.filter((sequence) => compareU32(sequence, processor.merged) > 0);
    if (poison !== undefined) this.#quarantined.push(poison);
    // So that a death before the first record is nobody's fault.
    words.inFlight.store(processor.merged);
    backend.succeed(this.role);
    this.#messages = this.#inheritance();
    succeeded();
  }

  seed(): boolean {
    const { value, done = true } = this.#messages?.next() ?? {};
    if (done) this.#messages = undefined;
    else this.#options.backend.toShard(this.role, value);
    return !done;
  }

  /** Informers that are attached meanwhile are told of as always: nothing is known of them yet. */
  *#inheritance(): Generator<ToShard> {
    const { attachments, processor } = this.#options;
    const known = [...attachments];
    for (const [informer, { client }] of known) {
      yield { type: 'attach', informer, spec: client.shardSpec };
      const { epoch, ids } = client.merge.succeed(this.role);
      for (const keys of keySeeds(ids)) yield { type: 'seed', informer, epoch, keys };
    }
    yield { type: 'resume', after: processor.merged, quarantined: this.#quarantined };
  }
}

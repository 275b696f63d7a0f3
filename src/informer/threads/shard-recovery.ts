/**
 * Replacement of a shard that ended. The main thread first merges all that the shard had published. Its replica is then
 * exactly the state that the shard had after its last finished record. The successor receives this state and continues
 * with the records in the ring: a shard releases a record only after it has published the answer. So every record is
 * answered once, in order.
 */
import type { SequenceMerger } from '../../replica/merge/sequence-merger.ts';
import { KeyHash } from '../../shared/record/key-hash.ts';
import type { HashKey } from '../../shared/record/key-hash.ts';
import { compareU32 } from '../../shared/ring/word.ts';
import type { Attachments } from './attachments.ts';
import type { Backend } from './backend.ts';
import { keySeeds } from './key-seeds.ts';
import type { ShardWords } from '../../shared/layout.ts';
import type { ToShard } from '../../shared/protocol.ts';
import type { Supervised } from './supervisor.ts';

export interface ShardRecoveryOptions {
  readonly shard: number;
  readonly backend: Backend;
  readonly processor: SequenceMerger;
  readonly words: ShardWords;
  readonly attachments: Attachments;
  readonly hashKey: HashKey;
  /** Called when the successor was started. */
  readonly succeeded: () => void;
}

export class ShardRecovery implements Supervised {
  readonly role: number;
  readonly #options: ShardRecoveryOptions;
  /** Messages that the successor has not received yet. */
  #messages: Iterator<ToShard> | undefined;
  #quarantined: number[] = [];
  #hasResumed = true;

  constructor(options: ShardRecoveryOptions) {
    this.role = options.shard;
    this.#options = options;
  }

  heartbeat(): number | undefined {
    return this.#options.backend.heartbeat(this.role);
  }

  end(): Promise<void> {
    // Stop sending: this thread may be a successor that ended before it had received all messages.
    this.#messages = undefined;
    return this.#options.backend.end(this.role);
  }

  get hasResumed(): boolean {
    return this.#hasResumed;
  }

  /** Notes that the successor has begun. */
  resumed(): void {
    this.#hasResumed = true;
  }

  isDrained(): boolean {
    return this.#options.processor.isDrained(this.role);
  }

  unfinished(): number | undefined {
    const { words, processor } = this.#options;
    const sequence = words.inFlight.load();
    return compareU32(sequence, processor.merged) > 0 ? sequence : undefined;
  }

  replace(quarantined: number | undefined): void {
    const { backend, processor, words, succeeded } = this.#options;
    processor.discardUnfinished(this.role);
    this.#forgetMerged();
    if (quarantined !== undefined) this.#quarantined.push(quarantined);
    // No record counts as the cause of a death before the first record.
    words.inFlight.store(processor.merged);
    this.#hasResumed = false;
    backend.succeed(this.role);
    this.#messages = this.#inheritance();
    succeeded();
  }

  seed(): boolean {
    this.#forgetMerged();
    const { value, done = true } = this.#messages?.next() ?? {};
    if (done) this.#messages = undefined;
    else this.#options.backend.toShard(this.role, value);
    return !done;
  }

  /** Removes merged sequences before the same numbers occur again. */
  #forgetMerged(): void {
    if (this.#quarantined.length === 0) return;
    const { processor } = this.#options;
    this.#quarantined = this.#quarantined.filter((sequence) => compareU32(sequence, processor.merged) > 0);
  }

  /**
   * Yields the messages for a successor. Informers that attach meanwhile are sent as usual. An informer that has not
   * been started has no records: it only has to be attached, and only its own start waits for that.
   */
  *#inheritance(): Generator<ToShard> {
    const { attachments, processor, hashKey } = this.#options;
    const hash = new KeyHash(hashKey);
    const known = [...attachments];
    for (const [informer, attachment] of known) {
      if (attachments.get(informer) !== attachment) continue;
      const { client, isStarted, unanswered } = attachment;
      if (!isStarted) unanswered.add(this.role);
      yield { type: 'attach', informer, spec: client.shardSpec };
      if (!isStarted) continue;
      const { epoch, ids } = client.merge.succeed(this.role);
      for (const keys of keySeeds(ids, hash)) yield { type: 'seed', informer, epoch, keys };
    }
    yield { type: 'resume', after: processor.merged, quarantined: this.#quarantined };
  }
}

/**
 * Replacement of a shard that ended. The main thread first merges all that the shard had published. Its replica is then
 * exactly the state that the shard had after its last finished record. The successor receives this state and continues
 * with the records in the ring: a shard releases a record only after it has published the answer. So every record is
 * answered once, in order.
 */
import { KeyHash } from '../../shared/record/key-hash.ts';
import { compareU32 } from '../../shared/ring/word.ts';
import type { RecoveryParts } from './reflector-recovery.ts';
import type { ShardWords } from '../../shared/layout.ts';
import type { ToShard, KeySeed } from '../../shared/protocol.ts';
import type { Supervised } from './supervisor.ts';
import type { UsedId } from '../../replica/store/replica.ts';

const KEYS_PER_SEED = 512;
const WORDS_PER_KEY = 4;
/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export class ShardRecovery implements Supervised {
  readonly role: number;
  readonly #parts: RecoveryParts;
  readonly #words: ShardWords;
  /** Messages that the successor has not received yet. */
  #messages: Iterator<ToShard> | undefined;
  #quarantined: number[] = [];
  #hasResumed = true;

  constructor(shard: number, parts: RecoveryParts) {
    this.role = shard;
    this.#parts = parts;
    this.#words = parts.words.shard(shard);
  }

  end(): Promise<void> {
    // Stop sending: this thread may be a successor that ended before it had received all messages.
    this.#messages = undefined;
    return this.#parts.backend.end(this.role);
  }

  get hasResumed(): boolean {
    return this.#hasResumed;
  }

  resumed(): void {
    this.#hasResumed = true;
  }

  isDrained(): boolean {
    return this.#parts.processor.isDrained(this.role);
  }

  unfinished(): number | undefined {
    const sequence = this.#words.inFlight.load();
    return compareU32(sequence, this.#parts.processor.merged) > 0 ? sequence : undefined;
  }

  replace(quarantined: number | undefined): void {
    const { backend, processor, succeeded } = this.#parts;
    processor.discardUnfinished(this.role);
    this.#forgetMerged();
    if (quarantined !== undefined) this.#quarantined.push(quarantined);
    // No record counts as the cause of a death before the first record.
    this.#words.inFlight.store(processor.merged);
    this.#hasResumed = false;
    backend.succeed(this.role);
    this.#messages = this.#inheritance();
    succeeded(this.role);
  }

  seed(): boolean {
    this.#forgetMerged();
    const { value, done = true } = this.#messages?.next() ?? {};
    if (done) this.#messages = undefined;
    else this.#parts.backend.toShard(this.role, value);
    return !done;
  }

  get isSeeded(): boolean {
    return !this.#messages && this.#quarantined.length === 0;
  }

  /** Removes merged sequences before the same numbers occur again. */
  #forgetMerged(): void {
    if (this.#quarantined.length === 0) return;
    const { processor } = this.#parts;
    this.#quarantined = this.#quarantined.filter((sequence) => compareU32(sequence, processor.merged) > 0);
  }

  /**
   * Yields the messages for a successor. Informers that attach meanwhile are sent as usual. An informer that has not
   * been started has no records: it only has to be attached, and only its own start waits for that.
   */
  *#inheritance(): Generator<ToShard> {
    const { attachments, processor, hashKey } = this.#parts;
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

/**
 * Yields the keys of an informer with their ids and their versions in both states, from the main thread's replica. There
 * may be a million keys, so each seed has a few. They cannot change meanwhile: only the shard itself could change them,
 * and no relist ends without its answer.
 *
 * @param hash a hash with the reflector's key
 */
export function* keySeeds(ids: Iterable<UsedId>, hash: KeyHash): Generator<KeySeed> {
  let some: UsedId[] = [];
  for (const id of ids) {
    some.push(id);
    if (some.length < KEYS_PER_SEED) continue;
    yield seedOf(some, hash);
    some = [];
  }
  // Send the last one even without keys: a seed also carries the open relist's epoch.
  yield seedOf(some, hash);
}

function seedOf(ids: readonly UsedId[], hash: KeyHash): KeySeed {
  const units = ids.reduce((sum, { identity }) => sum + identity.namespace.length + identity.name.length, 0);
  const bytes = Buffer.allocUnsafeSlow(units * BYTES_PER_UNIT_MAX);
  const words = new Int32Array(ids.length * WORDS_PER_KEY);
  let end = 0;
  for (const [index, { id, identity }] of ids.entries()) {
    const nameStart = end + bytes.write(identity.namespace, end, 'utf8');
    const nameEnd = nameStart + bytes.write(identity.name, nameStart, 'utf8');
    const namespace = { bytes, start: end, end: nameStart };
    const name = { bytes, start: nameStart, end: nameEnd };
    const lengths = [nameStart - end, nameEnd - nameStart];
    words.set([id, hash.of(namespace, name), ...lengths], index * WORDS_PER_KEY);
    end = nameEnd;
  }
  return {
    words,
    bytes: new Uint8Array(bytes.subarray(0, end)),
    live: ids.map(({ live }) => live),
    listed: ids.map(({ listed }) => listed),
  };
}

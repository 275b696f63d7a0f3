/**
 * Replacement of ended threads. The main thread first merges all records that the thread published, so the replicas are
 * exactly in the state after the last finished record.
 */
import { KeyHash } from '../../shared/record/key-hash.ts';
import { compareU32 } from '../../shared/ring/word.ts';
import type { ShardWords, PipelineWords } from '../../shared/pipeline-layout.ts';
import type { ToShard, KeySeed } from '../../shared/protocol.ts';
import type { Supervised } from './supervisor.ts';
import type { UsedId } from '../../replica/store/replica.ts';
import type { SequenceMerger } from '../../replica/merge/sequence-merger.ts';
import type { AttachmentTable } from './attachments.ts';
import type { Backend, Role } from './backend.ts';
import type { HashKey } from '../../shared/record/key-hash.ts';

const KEYS_PER_SEED = 512;
const WORDS_PER_KEY = 4;
/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

export interface RecoveryParts {
  readonly backend: Backend;
  readonly merger: SequenceMerger;
  readonly words: PipelineWords;
  readonly shards: number;
  readonly hashKey: HashKey;
  readonly attachments: AttachmentTable;
  readonly succeeded: (role: Role) => void;
}

/**
 * Replacement of a shard. The successor receives the state of the replicas and continues with the records in the ring:
 * a shard releases a record only after it published the answer. So every record is answered once, in order.
 */
export class ShardRecovery implements Supervised {
  readonly role: number;
  readonly #parts: RecoveryParts;
  readonly #words: ShardWords;
  /** Messages that the successor did not receive yet. */
  #messages: Iterator<ToShard> | undefined;
  #quarantined: number[] = [];
  /** Whether the successor began. */
  hasResumed = true;

  constructor(shard: number, parts: RecoveryParts) {
    this.role = shard;
    this.#parts = parts;
    this.#words = parts.words.shard(shard);
  }

  end(): Promise<void> {
    // Stop sending: this thread may be a successor that ended before it received all messages.
    this.#messages = undefined;
    return this.#parts.backend.end(this.role);
  }

  isDrained(): boolean {
    return this.#parts.merger.isDrained(this.role);
  }

  unfinished(): number | undefined {
    const sequence = this.#words.inFlight.load();
    return compareU32(sequence, this.#parts.merger.merged) > 0 ? sequence : undefined;
  }

  replace(quarantined: number | undefined): void {
    const { backend, merger, succeeded } = this.#parts;
    merger.discardUnfinished(this.role);
    this.#forgetMerged();
    if (quarantined !== undefined) this.#quarantined.push(quarantined);
    // No record counts as the cause of a death before the first record.
    this.#words.inFlight.store(merger.merged);
    this.hasResumed = false;
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
    const { merger } = this.#parts;
    this.#quarantined = this.#quarantined.filter((sequence) => compareU32(sequence, merger.merged) > 0);
  }

  /**
   * Yields the messages for a successor. Informers that attach during the hand-over are sent as usual. There are no
   * records of an informer that is not started: it only has to be attached, and only the informer's own start waits for
   * that.
   */
  *#inheritance(): Generator<ToShard> {
    const { attachments, merger, hashKey } = this.#parts;
    const hash = new KeyHash(hashKey);
    const known = [...attachments];
    for (const [informer, attachment] of known) {
      if (attachments.get(informer) !== attachment) continue;
      const { client, isStarted, unanswered } = attachment;
      if (!isStarted) unanswered.add(this.role);
      yield { type: 'attach', informer, spec: client.shardSpec };
      if (!isStarted) continue;
      const { isListing, ids } = client.merge.succeed(this.role);
      for (const keys of keySeeds(ids, hash)) yield { type: 'seed', informer, isListing, keys };
    }
    yield { type: 'resume', after: merger.merged, quarantined: this.#quarantined };
  }
}

/**
 * Yields the keys of an informer with their ids and versions, from the state that the main thread now changes.
 * There may be a million keys, so each seed carries a few. They cannot change during the hand-over: only the shard
 * itself could change them, and no relist ends without the shard's answer.
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
  // Send the last seed even without keys: a seed also says whether a relist is open.
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
    versions: ids.map(({ version }) => version),
  };
}

/**
 * Replacement of a reflector. The successor watches from the last version in the replicas, and begins an unfinished
 * list again. Sequences continue. Other records of the old reflector are discarded in the rings (`discardRecords`).
 * Bytes in the log are not read after their record is merged, so the successor may write anywhere in the log.
 */
export class ReflectorRecovery implements Supervised {
  readonly role = 'reflector';
  /** A reflector inherits no state and begins at once. */
  readonly hasResumed = true;
  readonly isSeeded = true;
  readonly #parts: RecoveryParts;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  async end(): Promise<void> {
    const { backend, attachments, words, shards } = this.#parts;
    // No thread would read the answers of the user's functions; the successor asks again.
    for (const { feed } of attachments.values()) feed?.close();
    await backend.end(this.role);
    // The reflector may have died after it wrote `committed` and before it rang the bells.
    for (let shard = 0; shard < shards; shard++) words.shard(shard).bell.ring();
  }

  isDrained(): boolean {
    const { merger, words } = this.#parts;
    return merger.merged === words.committed.load();
  }

  unfinished(): undefined {
    return undefined;
  }

  seed(): false {
    return false;
  }

  replace(): void {
    const { backend, attachments, succeeded } = this.#parts;
    backend.succeed(this.role);
    succeeded(this.role);
    for (const [informer, { client, isStarted, detached }] of attachments) {
      if (!isStarted) continue;
      attachments.started(informer);
      const resume = { ...client.merge.position, isStopping: detached !== undefined };
      const { reflectorSpec: spec, counters } = client;
      backend.toReflector({ type: 'start', informer, spec, counters, resume });
    }
  }
}

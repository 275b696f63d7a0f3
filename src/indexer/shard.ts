/**
 * One shard of the indexer: reads deltas from its ring, in order, and answers every one with exactly one
 * terminal record on its ring to the main thread. A plain class: a worker thread or the in-process twin calls
 * `doWork`, which never blocks.
 *
 * The order of the stores is the protocol: the output is published before `consumed` says that the record is
 * done and before its memory is released, so whoever sees the input gone can see the output.
 */
import { KubeloomError, toErrorMessage } from '../errors.ts';
import {
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  DeltaKind,
  emptyLocation,
  readControl,
  readObjectDelta,
  sequenceOf,
} from '../record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../record/delta.ts';
import type { Bell } from '../ring/bell.ts';
import type { RingConsumer } from '../ring/consumer.ts';
import type { RingProducer } from '../ring/producer.ts';
import { compareU32 } from '../ring/word.ts';
import type { Word } from '../ring/word.ts';
import type { ControlPort, FromShard, ShardSpec, ToShard } from '../threads/protocol.ts';
import { loadModules } from './modules.ts';
import { Output } from './output.ts';
import { ShardInformer } from './shard-informer.ts';

export interface ShardOptions {
  /** Deltas from the reflector. */
  readonly ring: RingConsumer;
  /** Notifications to the main thread. */
  readonly out: RingProducer;
  readonly log: Buffer;
  /** Read: the last sequence that is visible in all rings. */
  readonly committed: Word;
  /** Written: the last sequence that this shard is done with. */
  readonly consumed: Word;
  /** Written: the sequence that it is working on. */
  readonly inFlight: Word;
  readonly mainBell: Bell;
  readonly reflectorBell: Bell;
  readonly port: ControlPort<ToShard, FromShard>;
  /** It takes the place of one that ended: it does nothing before it was told what that one knew. */
  readonly isSuccessor?: boolean;
}

type Resume = Extract<ToShard, { type: 'resume' }>;

const RECORDS_PER_TURN = 1024;

export class Shard {
  readonly #options: ShardOptions;
  readonly #output: Output;
  readonly #informers: Map<number, ShardInformer> = new Map();
  readonly #delta: ObjectLocation = emptyLocation();
  #consumed: number;
  /** What a successor is told before it may begin. */
  #inheritance: Inheritance | undefined;
  /** Why it cannot begin: thrown where its thread looks for what ends it. */
  #failure: { readonly cause: unknown } | undefined;
  /** Sequences of records that shards have died of; hardly ever any. */
  #quarantined: readonly number[] = [];

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#output = new Output(options.out);
    this.#consumed = options.consumed.load();
    if (options.isSuccessor) this.#inheritance = new Inheritance();
    options.port.onMessage((message) => this.#handle(message));
  }

  /**
   * Works on up to `recordsMax` records, as long as there are any and the output has room.
   *
   * @returns how many it worked on; one that takes several calls (a sweep, an object larger than the ring)
   *   counts in each of them, and 0 means that no progress is possible now
   */
  doWork(recordsMax: number = RECORDS_PER_TURN): number {
    if (this.#failure) throw this.#failure.cause;
    if (this.#inheritance) return 0;
    const { ring, committed } = this.#options;
    // Before the ring's tail: all that is committed is then in the ring.
    const limit = committed.load();
    let records = 0;
    let isDrained = false;
    while (records < recordsMax) {
      if (!this.#output.isOpen && !this.#take(limit)) {
        isDrained = true;
        break;
      }
      if (!this.#output.canContinue) break;
      records++;
      if (this.#output.flush() !== 'done') break;
      this.#consumed = sequenceOf(ring);
      ring.advance();
    }
    // Sequences up to the limit that never came went to other shards; the log need not wait for this one.
    if (isDrained && compareU32(limit, this.#consumed) > 0) this.#consumed = limit;
    this.#publish();
    return records;
  }

  /** Whether `doWork` would make progress; reads shared words only. */
  hasWork(): boolean {
    if (this.#inheritance) return false;
    if (this.#output.isOpen) return this.#output.canContinue;
    const { ring, committed } = this.#options;
    const limit = committed.load();
    return ring.peek() && compareU32(sequenceOf(ring), limit) <= 0;
  }

  /** Whoever calls doWork stops calling it on shutdown; nothing here has to be closed. */
  #handle(message: ToShard): void {
    switch (message.type) {
      case 'attach': {
        const attaching = this.#attach(message.informer, message.spec);
        this.#inheritance?.attaching.push(attaching);
        break;
      }
      case 'seed':
        this.#inheritance?.seeds.push(message);
        break;
      case 'resume':
        if (this.#inheritance) void this.#tryToResume(this.#inheritance, message);
        break;
    }
  }

  async #tryToResume(inheritance: Inheritance, { after, quarantined }: Resume): Promise<void> {
    try {
      await this.#resume(inheritance, after, quarantined);
    } catch (cause) {
      this.#failure = { cause };
      // So that the twin has a turn.
      this.#options.mainBell.ring();
    }
  }

  /** Begins behind what its predecessor had finished, knowing what that one knew. */
  async #resume(inheritance: Inheritance, after: number, quarantined: readonly number[]): Promise<void> {
    const { ring, port } = this.#options;
    const areAttached = await Promise.all(inheritance.attaching);
    // The answer to `attach` has said why.
    if (areAttached.includes(false)) return;
    for (const { informer, keys, epoch } of inheritance.seeds)
      this.#informers.get(informer)?.seed(keys, epoch);
    for (const informer of this.#informers.values()) informer.seeded();
    while (ring.peek() && compareU32(sequenceOf(ring), after) <= 0) ring.advance();
    this.#consumed = after;
    this.#quarantined = quarantined;
    this.#inheritance = undefined;
    port.post({ type: 'resumed' });
  }

  /** Reads the next record and opens the output for it; false when there is none yet. */
  #take(limit: number): boolean {
    const { ring, inFlight } = this.#options;
    if (!ring.peek()) return false;
    const sequence = sequenceOf(ring);
    if (compareU32(sequence, limit) > 0) return false;
    inFlight.store(sequence);
    switch (ring.type) {
      case RECORD_TYPE_OBJECT:
        readObjectDelta(ring, this.#delta);
        this.#takeObject(this.#delta);
        return true;
      case RECORD_TYPE_CONTROL:
        this.#takeControl(readControl(ring));
        return true;
      default:
        throw new KubeloomError(
          'ERR_KUBELOOM_PROTOCOL',
          `unknown record type ${ring.type} in a shard's ring`,
        );
    }
  }

  #takeObject(delta: ObjectLocation): void {
    const informer = this.#informers.get(delta.informer);
    if (informer && this.#quarantined.includes(delta.sequence)) informer.quarantined(delta);
    else if (informer) informer.object(delta);
    // An informer that is gone: its sequences must be answered all the same.
    else this.#output.openNothing(delta.sequence, delta.informer, delta.kind);
  }

  #takeControl(record: ControlRecord): void {
    const informer = this.#informers.get(record.informer);
    if (record.kind === DeltaKind.Detach) this.#informers.delete(record.informer);
    if (informer && record.kind !== DeltaKind.Detach) informer.control(record);
    else this.#output.openControl(record);
  }

  #publish(): void {
    const { ring, out, consumed, mainBell, reflectorBell } = this.#options;
    if (out.publish()) mainBell.ring();
    const hasAdvanced = consumed.load() !== this.#consumed;
    if (hasAdvanced) consumed.store(this.#consumed);
    const hasReleased = ring.release();
    if (hasAdvanced || hasReleased) reflectorBell.ring();
  }

  /** False when it cannot be. */
  async #attach(informer: number, spec: ShardSpec): Promise<boolean> {
    const { log, port } = this.#options;
    try {
      const modules = await loadModules(spec);
      this.#informers.set(informer, new ShardInformer(spec, modules, log, this.#output));
      port.post({ type: 'attached', informer });
      return true;
    } catch (error) {
      port.post({ type: 'attached', informer, error: toErrorMessage(error) });
      return false;
    }
  }
}

/** What has come for a successor so far. */
class Inheritance {
  readonly attaching: Promise<boolean>[] = [];
  readonly seeds: Extract<ToShard, { type: 'seed' }>[] = [];
}

/**
 * One shard of the indexer. It reads deltas from its ring in order, and answers each one with exactly one terminal
 * record on its ring to the main thread. A worker thread or the in-process twin calls `doWork`, which never blocks.
 *
 * The order of the stores is the protocol: the output is published before `consumed` advances and before the input is
 * released. So a thread that sees the input released can see the output.
 */
import { KubeloomError, toErrorMessage } from '../base/errors.ts';
import {
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  DeltaKind,
  emptyLocation,
  readControl,
  readObjectDelta,
  sequenceOf,
} from '../shared/record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../shared/record/delta.ts';
import type { Bell } from '../shared/ring/bell.ts';
import type { RingConsumer } from '../shared/ring/consumer.ts';
import type { RingProducer } from '../shared/ring/producer.ts';
import { compareU32 } from '../shared/ring/word.ts';
import type { Word } from '../shared/ring/word.ts';
import type { Clock } from '../base/clock.ts';
import type { ControlPort, FromShard, ShardSpec, ToShard } from '../shared/protocol.ts';
import { Inheritance } from './inheritance.ts';
import type { Resume } from './inheritance.ts';
import { loadModules } from './modules.ts';
import { NotificationWriter } from './notification-writer.ts';
import { ShardInformer } from './shard-informer.ts';
import { Turn } from './turn.ts';

export interface ShardOptions {
  /** Deltas from the reflector. */
  readonly ring: RingConsumer;
  /** Notifications to the main thread. */
  readonly out: RingProducer;
  readonly log: Buffer;
  /** Read: the last sequence that is visible in all rings. */
  readonly committed: Word;
  /** Written: the last sequence that this shard has finished. */
  readonly consumed: Word;
  /** Written: the sequence of the current record. */
  readonly inFlight: Word;
  /** Written: incremented for every record. */
  readonly heartbeat: Word;
  readonly mainBell: Bell;
  readonly reflectorBell: Bell;
  readonly port: ControlPort<ToShard, FromShard>;
  readonly clock: Clock;
  /** Whether it replaces a shard that ended; then it does nothing before it has received its predecessor's state. */
  readonly isSuccessor?: boolean;
}

const RECORDS_PER_TURN = 1024;

export class Shard {
  readonly #options: ShardOptions;
  readonly #output: NotificationWriter;
  readonly #informers: Map<number, ShardInformer> = new Map();
  /** Informers whose modules are being loaded. */
  readonly #loading: Map<number, Promise<unknown>> = new Map();
  readonly #delta: ObjectLocation = emptyLocation();
  readonly #turn: Turn;
  #consumed: number;
  #deltas = 0;
  /** Present in a successor until it may begin. */
  #inheritance: Inheritance | undefined;
  /** Sequences behind `consumed` of quarantined records; usually empty. */
  #quarantined: readonly number[] = [];

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#output = new NotificationWriter(options.out);
    this.#turn = new Turn(options.clock);
    this.#consumed = options.consumed.load();
    if (options.isSuccessor) this.#inheritance = new Inheritance();
    options.port.onMessage((message) => this.#handle(message));
  }

  /** Number of finished records. */
  get deltas(): number {
    return this.#deltas;
  }

  /** Whether modules are being loaded, which needs the event loop. */
  get isLoading(): boolean {
    return this.#loading.size > 0;
  }

  /**
   * Processes up to `recordsMax` records, while there are any, the output has room, and the turn has not ended.
   *
   * @returns the number of records processed. A record that takes several calls (a sweep, an object larger than the
   *   ring) counts in each of them. 0 means that no progress is possible now.
   */
  doWork(recordsMax: number = RECORDS_PER_TURN): number {
    this.#turn.begin();
    if (this.#inheritance) return this.#inherit(this.#inheritance);
    const { ring, committed } = this.#options;
    // Read before the ring's tail: all committed records are then in the ring.
    const limit = committed.load();
    let records = 0;
    let isDrained = false;
    while (records < recordsMax && !this.#turn.isOver) {
      if (!this.#output.isOpen && !this.#take(limit)) {
        isDrained = true;
        break;
      }
      if (!this.#output.canContinue) break;
      records++;
      if (this.#output.flush() !== 'done') break;
      this.#consumed = sequenceOf(ring);
      this.#deltas++;
      ring.advance();
    }
    // Missing sequences up to the limit went to other shards; the log need not wait for this one.
    if (isDrained && compareU32(limit, this.#consumed) > 0) this.#consumed = limit;
    this.#publish();
    return records;
  }

  /** Returns whether `doWork` would make progress; reads shared words only. */
  hasWork(): boolean {
    if (this.#inheritance) return this.#inheritance.next(this.#informers) !== undefined;
    if (this.#output.isOpen) return this.#output.canContinue;
    const { ring, committed } = this.#options;
    const limit = committed.load();
    return ring.peek() && compareU32(sequenceOf(ring), limit) <= 0;
  }

  /**
   * Handles a message. Needs no case for shutdown: the caller of `doWork` stops, and the shard has nothing to close.
   */
  #handle(message: ToShard): void {
    switch (message.type) {
      case 'attach':
        void this.#attach(message.informer, message.spec);
        break;
      case 'detach':
        this.#loading.delete(message.informer);
        this.#informers.delete(message.informer);
        break;
      case 'seed':
      case 'resume':
        this.#inheritance?.add(message);
        break;
    }
  }

  /** Takes over the predecessor's state, a part at a time. */
  #inherit(inheritance: Inheritance): number {
    let parts = 0;
    while (!this.#turn.isOver) {
      const step = inheritance.next(this.#informers);
      if (!step) break;
      if (step.type === 'failed') throw step.cause;
      this.#options.heartbeat.increment();
      this.#turn.spendMuch();
      inheritance.taken();
      parts++;
      if (step.type === 'resume') {
        this.#resume(step);
        break;
      }
      this.#informers.get(step.informer)?.seed(step.keys, step.epoch);
    }
    return parts;
  }

  /** Begins after the last record that the predecessor finished. */
  #resume({ after, quarantined }: Resume): void {
    const { ring, port } = this.#options;
    for (const informer of this.#informers.values()) informer.seeded();
    while (ring.peek() && compareU32(sequenceOf(ring), after) <= 0) ring.advance();
    this.#consumed = after;
    this.#quarantined = quarantined;
    this.#inheritance = undefined;
    port.post({ type: 'resumed' });
  }

  /** Reads the next record and opens the output for it; returns false when there is none yet. */
  #take(limit: number): boolean {
    const { ring, inFlight, heartbeat } = this.#options;
    if (!ring.peek()) return false;
    const sequence = sequenceOf(ring);
    if (compareU32(sequence, limit) > 0) return false;
    inFlight.store(sequence);
    heartbeat.increment();
    switch (ring.type) {
      case RECORD_TYPE_OBJECT:
        readObjectDelta(ring, this.#delta);
        this.#turn.spend(this.#delta.length);
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
    if (informer?.hasModules) this.#turn.spendMuch();
    if (informer && this.#quarantined.includes(delta.sequence)) informer.quarantined(delta);
    else if (informer) informer.object(delta);
    // Sequences of a detached informer need an answer, too.
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
    if (this.#quarantined.length > 0) this.#forgetQuarantined();
    const hasReleased = ring.release();
    if (hasAdvanced || hasReleased) reflectorBell.ring();
  }

  /** Removes finished sequences before the same numbers occur again. */
  #forgetQuarantined(): void {
    this.#quarantined = this.#quarantined.filter((sequence) => compareU32(sequence, this.#consumed) > 0);
  }

  /**
   * Loads the modules, then answers with success or the error; does not answer if the informer was detached meanwhile.
   */
  async #attach(informer: number, spec: ShardSpec): Promise<void> {
    const { log, port, clock } = this.#options;
    const loading = loadModules(spec, clock);
    this.#loading.set(informer, loading);
    const isWanted = (): boolean => this.#loading.get(informer) === loading;
    try {
      const modules = await loading;
      if (!isWanted()) return;
      this.#informers.set(informer, new ShardInformer(spec, modules, log, this.#output));
      port.post({ type: 'attached', informer });
    } catch (error) {
      if (!isWanted()) return;
      this.#inheritance?.failed(informer, error);
      port.post({ type: 'attached', informer, error: toErrorMessage(error) });
    }
    this.#loading.delete(informer);
  }
}

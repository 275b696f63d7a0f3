/**
 * One shard of the indexer. It reads deltas from a ring in order, and answers each delta with exactly one terminal
 * record on a ring to the main thread. A worker thread or the in-process backend calls `doWork`, which never blocks.
 *
 * The order of the stores is the protocol: the output is published before `consumed` advances and before the input is
 * released. So a thread that sees the input released can see the output.
 */
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, toErrorMessage } from '../base/errors.ts';
import { PipelineWords } from '../shared/pipeline-layout.ts';
import { UsageCounter, UsageWriter } from '../shared/thread-usage.ts';
import type { OnRing, PipelineMemory } from '../shared/pipeline-layout.ts';
import type { ControlPort, FromShard, ShardSpec, ToShard } from '../shared/protocol.ts';
import {
  DeltaKind,
  ObjectLocation,
  RECORD_TYPE_CONTROL,
  RECORD_TYPE_OBJECT,
  readControl,
  readObjectDelta,
  sequenceOf,
} from '../shared/record/delta.ts';
import type { ControlRecord } from '../shared/record/delta.ts';
import type { Bell } from '../shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../shared/ring/ring.ts';
import { compareU32 } from '../shared/ring/word.ts';
import type { Word } from '../shared/ring/word.ts';
import { loadModules } from './modules.ts';
import { NotificationWriter } from './notification-writer.ts';
import { ShardInformer } from './shard-informer.ts';
import type { DroppedMemory } from './shard-informer.ts';

const RECORDS_PER_TURN = 1024;
const TURN_MS = 4;
/** Bytes of records after which a turn reads the clock. */
const LOOK_BYTES = 64 * 1024;
/** Cost of a record besides the object's bytes: after 32 empty records the clock is read. */
const RECORD_BYTES: number = LOOK_BYTES / 32;

export interface ShardOptions {
  /** Deltas from the reflector. */
  readonly ring: RingConsumer;
  /** Notifications to the main thread. */
  readonly out: RingProducer;
  readonly log: Buffer;
  /** Read: the last sequence that is visible in all rings. */
  readonly committed: Word;
  /** Written: the last finished sequence. */
  readonly consumed: Word;
  /** Written: the informer of the current record, or 0. */
  readonly working: Word;
  /** Written: incremented for every record. */
  readonly heartbeat: Word;
  readonly mainBell: Bell;
  readonly reflectorBell: Bell;
  readonly port: ControlPort<ToShard, FromShard>;
  readonly clock: Clock;
  readonly usage: UsageWriter;
  /** Default: nothing, because V8 collects by itself in a thread that does other work. */
  readonly dropped?: DroppedMemory | undefined;
}

export class Shard {
  /** Figures of this shard and its predecessors; `doWork` publishes them. */
  readonly usage: UsageWriter;
  readonly #options: ShardOptions;
  readonly #output: NotificationWriter;
  readonly #informers: Map<number, ShardInformer> = new Map();
  /** Informers whose modules are being loaded. */
  readonly #loading: Map<number, Promise<unknown>> = new Map();
  readonly #delta = new ObjectLocation();
  readonly #turn: Turn;
  #consumed: number;
  /** The last value of `working`. */
  #working = 0;

  constructor(options: ShardOptions) {
    this.#options = options;
    this.usage = options.usage;
    this.#output = new NotificationWriter(options.out);
    this.#turn = new Turn(options.clock);
    this.#consumed = options.consumed.load();
    options.port.onMessage((message) => this.#handle(message));
  }

  /** Whether modules are being loaded, which needs the event loop. */
  get isLoading(): boolean {
    return this.#loading.size > 0;
  }

  /**
   * Processes up to `recordsMax` records, until the input is empty, the output is full or the turn ends.
   *
   * @returns the number of records processed. A record that takes several calls (an object larger than the ring) counts
   *   in each of them. 0 means that no progress is possible now.
   */
  doWork(recordsMax: number = RECORDS_PER_TURN): number {
    this.#turn.begin();
    const { ring, committed } = this.#options;
    // Read before the ring's tail: all committed records are then in the ring.
    const limit = committed.load();
    let records = 0;
    let finished = 0;
    let isDrained = false;
    while (records < recordsMax && !this.#turn.isOver) {
      if (this.#output.isOpen) {
        if (!this.#output.canContinue) break;
      } else if (!this.#take(limit)) {
        isDrained = true;
        break;
      }
      records++;
      if (!this.#output.flush()) break;
      this.#consumed = sequenceOf(ring);
      finished++;
      ring.advance();
    }
    // Missing sequences up to the limit went to other shards; the log need not wait for this shard.
    if (isDrained && compareU32(limit, this.#consumed) > 0) this.#consumed = limit;
    if (records > 0) {
      // Before the results: a reader that sees a result finds it counted.
      (this.usage.values[UsageCounter.Records] as number) += finished;
      this.usage.publish();
    }
    this.#publish();
    return records;
  }

  /** Returns whether `doWork` would make progress; reads shared words only. */
  hasWork(): boolean {
    if (this.#output.isOpen) return this.#output.canContinue;
    const { ring, committed } = this.#options;
    const limit = committed.load();
    return ring.peek() && compareU32(sequenceOf(ring), limit) <= 0;
  }

  /**
   * Handles a message. Shutdown needs no case: the caller of `doWork` stops, and the shard holds no resource to close.
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
    }
  }

  /** Reads the next record and opens the output for it; returns false if the ring does not contain it yet. */
  #take(limit: number): boolean {
    const { ring, heartbeat } = this.#options;
    if (!ring.peek()) return false;
    const sequence = sequenceOf(ring);
    if (compareU32(sequence, limit) > 0) return false;
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
          'ERR_KUBELOOM_ASSERTION',
          `unknown record type ${ring.type} in a shard's ring`,
        );
    }
  }

  #takeObject(delta: ObjectLocation): void {
    const informer = this.#informers.get(delta.informer);
    this.#work(delta.informer);
    if (informer?.hasModules) this.#turn.spendMuch();
    if (informer) informer.object(delta);
    // Sequences of a detached informer also need an answer.
    else this.#output.openNothing(delta);
  }

  #takeControl(record: ControlRecord): void {
    if (record.kind === DeltaKind.Detach) this.#informers.delete(record.informer);
    const informer = this.#informers.get(record.informer);
    if (informer) informer.control(record);
    else this.#output.openControl(record);
  }

  /** Says of which informer the current record is, for the case that this thread ends. */
  #work(informer: number): void {
    if (informer === this.#working) return;
    this.#working = informer;
    this.#options.working.store(informer);
  }

  #publish(): void {
    const { ring, out, consumed, mainBell, reflectorBell } = this.#options;
    this.#work(0);
    if (out.publish()) mainBell.ring();
    const hasAdvanced = consumed.load() !== this.#consumed;
    if (hasAdvanced) consumed.store(this.#consumed);
    const hasReleased = ring.release();
    if (hasAdvanced || hasReleased) reflectorBell.ring();
  }

  /**
   * Loads the modules, then answers with success or the error; does not answer if the informer was detached before the modules were loaded.
   */
  async #attach(informer: number, spec: ShardSpec): Promise<void> {
    const { log, port, clock, dropped = () => undefined } = this.#options;
    const loading = loadModules(spec, clock);
    this.#loading.set(informer, loading);
    const isWanted = (): boolean => this.#loading.get(informer) === loading;
    try {
      const modules = await loading;
      if (!isWanted()) return;
      this.#informers.set(informer, new ShardInformer(spec, modules, log, this.#output, dropped));
      port.post({ type: 'attached', informer });
    } catch (error) {
      if (!isWanted()) return;
      port.post({ type: 'attached', informer, error: toErrorMessage(error) });
    }
    this.#loading.delete(informer);
  }
}

/**
 * The time for which a shard works before it publishes: a few milliseconds, however slow the modules are. So a first
 * result does not wait for a thousand others, and a thread that must be replaced loses a few milliseconds of work.
 *
 * Reading the clock takes about a twentieth of the time of a small record. So the shard reads it once per number of
 * bytes, and after every record that a user's module processed.
 */
class Turn {
  readonly #clock: Pick<Clock, 'now'>;
  #endMs = 0;
  /** Bytes since the clock was read. */
  #bytes = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  begin(): void {
    this.#endMs = this.#clock.now() + TURN_MS;
    this.#bytes = 0;
  }

  /** Counts a record with an object of this length. */
  spend(bytes: number): void {
    this.#bytes += RECORD_BYTES + bytes;
  }

  /** Counts work of unknown duration: the clock is read next. */
  spendMuch(): void {
    this.#bytes = LOOK_BYTES;
  }

  get isOver(): boolean {
    if (this.#bytes < LOOK_BYTES) return false;
    this.#bytes = 0;
    return this.#clock.now() >= this.#endMs;
  }
}

/** Constructs a shard over the shared memory, for a worker thread and for the in-process backend. */
export function createShard(
  index: number,
  memory: PipelineMemory,
  port: ControlPort<ToShard, FromShard>,
  options: { readonly onRing?: OnRing; readonly clock?: Clock; readonly dropped?: DroppedMemory } = {},
): Shard {
  const { onRing, clock = realClock, dropped } = options;
  const words = new PipelineWords(memory, onRing);
  const input = memory.toShard[index];
  const output = memory.toMain[index];
  const usage = memory.usage[1 + index];
  if (!input || !output || !usage) throw new RangeError(`no memory for shard ${index}`);
  return new Shard({
    ...words.shard(index),
    ring: new RingConsumer(new RingMemory(input)),
    out: new RingProducer(new RingMemory(output)),
    log: Buffer.from(memory.log),
    committed: words.committed,
    mainBell: words.mainBell,
    reflectorBell: words.reflectorBell,
    port,
    clock,
    usage: new UsageWriter(usage, clock),
    dropped,
  });
}

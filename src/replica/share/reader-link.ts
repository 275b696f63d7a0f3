/**
 * The main thread's end of the link to one thread that reads its caches: the ring of states, the returned rows, and the
 * numbers under which the thread has memory and decoders.
 */
import { toErrorMessage, withCode } from '../../base/errors.ts';
import type { KubeloomError } from '../../base/errors.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { MOVED_BYTES, RowKind, RowRecord, RowWriter, readReturned } from '../../shared/record/row.ts';
import { Bell } from '../../shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../shared/ring/ring.ts';
import { Word } from '../../shared/ring/word.ts';
import { shareMemory } from '../store/store-memory.ts';
import type { MemoryReader, SharedMemory, SlabMemory } from '../store/store-memory.ts';
import { BELL_LINE, WAITING_LINE } from './messages.ts';
import type { LinkMemory, ToReader } from './messages.ts';

/**
 * Result of an attempt to write what the thread lacks: `later`, something waits for the calls of the handler; `held`, for
 * rows that the thread returns.
 */
export type Written = 'all' | 'later' | 'held' | 'no room';

/** One informer's cache for the thread: its records come from it, and rows return to it. */
export interface LinkedCache {
  /** Number of rows that the thread has. */
  readonly exportedCount: number;
  rowsReturned(rows: Int32Array): void;
  /** Writes what the thread lacks. */
  write(): Written;
  /** Ends the thread's cache; the thread may go on reading what it has. */
  fail(failure: KubeloomError): void;
  close(): void;
  /** Ends some of the exports of a closed link; true while there are more. */
  release(): boolean;
}

export interface ReaderLinkOptions {
  /** Sends a message to the thread. */
  readonly post: (message: ToReader) => void;
  /** Called when the link cannot go on; the thread is asked to end. */
  readonly broken: (error: KubeloomError) => void;
}

type State =
  | 'open'
  /** Everything is written, then the request to close the port. */
  | 'finishing'
  /** The request is written. */
  | 'finished'
  /** Nothing is written or read any more, and the thread may still read its rows. */
  | 'broken'
  | 'closed';

const NO_TEXT: Buffer = Buffer.alloc(0);

interface KnownDecoder {
  readonly number: number;
  /** Number of structures that the thread has. */
  end: number;
}

export class ReaderLink implements MemoryReader {
  readonly #options: ReaderLinkOptions;
  readonly #ring: RingProducer;
  readonly #returned: RingConsumer;
  readonly #bell: Bell;
  readonly #waitingWord: Word;
  #isAnnounced = false;
  /** Number of former rows that the thread has: their memory is free when it has returned them. */
  formers = 0;
  readonly #caches: Map<number, LinkedCache> = new Map();
  /** Caches that have something to write. */
  readonly #wanting: Set<LinkedCache> = new Set();
  /** Informers whose caches have not ended in the thread. */
  readonly #open: Set<number> = new Set();
  /** Informers whose end is not in the ring, with the reason. */
  readonly #ends: Map<number, KubeloomError | undefined> = new Map();
  readonly #mark: RowRecord = new RowRecord();
  /** Writes the ends. */
  readonly #writer: RowWriter;
  readonly #memories: Map<ArrayBufferLike, number> = new Map();
  readonly #pools: Set<SlabMemory> = new Set();
  readonly #decoders: Map<MsgpackDecoder, KnownDecoder> = new Map();
  #memoryNumber = 0;
  #state: State = 'open';
  /** Whether the last record found no room. */
  isWaiting = false;

  constructor({ states, returned, words }: LinkMemory, options: ReaderLinkOptions) {
    this.#ring = new RingProducer(new RingMemory(states));
    this.#returned = new RingConsumer(new RingMemory(returned));
    const view = new Int32Array(words);
    this.#bell = new Bell(view, BELL_LINE);
    this.#waitingWord = new Word(view, WAITING_LINE);
    this.#options = options;
    this.#writer = this.newWriter();
  }

  /** Whether the record of a row that is moved can be written at once. */
  get hasRoomForMove(): boolean {
    return !this.isWaiting && this.#ring.canClaim(MOVED_BYTES);
  }

  /** Number of rows that the thread has. */
  get exportedCount(): number {
    let rows = 0;
    for (const { exportedCount } of this.#caches.values()) rows += exportedCount;
    return rows;
  }

  add(informer: number, cache: LinkedCache): void {
    this.#caches.set(informer, cache);
    this.#open.add(informer);
  }

  /** Makes the next turn write what the thread lacks of this cache. */
  want(cache: LinkedCache): void {
    this.#wanting.add(cache);
  }

  /** Returns a writer of records for one informer. */
  newWriter(): RowWriter {
    return new RowWriter(this.#ring);
  }

  /** Returns whether the record had room. */
  write(writer: RowWriter, record: RowRecord, text: Buffer): boolean {
    if (writer.write(record, text)) return true;
    this.isWaiting = true;
    return false;
  }

  /** Writes a record without a state. Returns whether it had room. */
  writeMark(
    writer: RowWriter,
    kind: RowKind,
    informer: number,
    version: number | string,
    extracted: Buffer = NO_TEXT,
  ): boolean {
    const mark = this.#mark;
    const versionText = Buffer.from(String(version));
    mark.kind = kind;
    mark.informer = informer;
    mark.version = String(version);
    mark.resourceVersionTextLength = versionText.length;
    mark.extractedLength = extracted.length;
    return this.write(writer, mark, Buffer.concat([versionText, extracted]));
  }

  /** Writes the end of an informer's cache behind everything that was written of it. */
  end(informer: number, failure: KubeloomError | undefined): void {
    this.#open.delete(informer);
    this.#ends.set(informer, failure);
    // There may be no drain any more that would turn the link.
    queueMicrotask(this.runOnce);
  }

  /** Asks the thread to close its port when all its caches have ended. */
  finish(): void {
    if (this.#state === 'open') this.#state = 'finishing';
    this.runOnce();
  }

  /**
   * Returns the number of this memory, which the thread knows when it reads the next record.
   *
   * @param pool keeps the memory for other slabs
   */
  numberOf(memory: SharedMemory, pool: SlabMemory): number {
    if (!memory.isShared) shareMemory(memory);
    const { buffer } = memory.bytes;
    let number = this.#memories.get(buffer);
    if (number !== undefined) return number;
    number = ++this.#memoryNumber;
    this.#memories.set(buffer, number);
    this.#pools.add(pool);
    pool.readers.add(this);
    this.#options.post({ type: 'memory', number, memory: buffer as SharedArrayBuffer });
    return number;
  }

  forget(memory: ArrayBufferLike): void {
    const number = this.#memories.get(memory);
    if (number === undefined) return;
    this.#memories.delete(memory);
    if (this.#state !== 'closed') this.#options.post({ type: 'forget', number });
  }

  collect(): void {
    if (this.#state !== 'closed') this.#options.post({ type: 'collect' });
  }

  /** Returns the number of this decoder, whose structures the thread has when it reads the next record. */
  decoderNumberOf(decoder: MsgpackDecoder): number {
    let known = this.#decoders.get(decoder);
    if (!known) this.#decoders.set(decoder, (known = { number: this.#decoders.size + 1, end: -1 }));
    if (known.end !== decoder.end) {
      const record = decoder.since(Math.max(0, known.end));
      known.end = decoder.end;
      this.#options.post({ type: 'structures', decoder: known.number, record });
    }
    return known.number;
  }

  /**
   * Takes returned rows, writes what the thread lacks, and shows the thread what was written; after each round of the
   * drain, and when the thread reports progress.
   */
  readonly runOnce = (): boolean => {
    if (this.#state === 'broken' || this.#state === 'closed') return false;
    try {
      this.#takeReturned();
      this.#writeAll();
      if (this.#ring.publish()) this.#bell.ring();
    } catch (error) {
      this.fail(withCode(error));
    }
    return false;
  };

  /** Ends the caches of the thread, out of order, after an error in the link itself. Its rows stay until its port closes. */
  fail(error: KubeloomError): void {
    if (this.#state === 'broken' || this.#state === 'closed') return;
    this.#state = 'broken';
    // No row of the thread is moved any more.
    this.isWaiting = true;
    this.#options.post({ type: 'broken', error: toErrorMessage(error) });
    this.#options.broken(error);
    for (const cache of this.#caches.values()) cache.fail(error);
  }

  /** Ends the link: the main thread writes nothing any more, waits end, and `release` ends the exports. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const cache of this.#caches.values()) cache.close();
    this.#wanting.clear();
    this.#memories.clear();
    for (const { readers } of this.#pools) readers.delete(this);
    this.#decoders.clear();
  }

  /** Ends some of the exports of a closed link; true while there are more. */
  release(): boolean {
    let hasMore = false;
    for (const cache of this.#caches.values()) hasMore = cache.release() || hasMore;
    return hasMore;
  }

  #takeReturned(): void {
    const ring = this.#returned;
    while (ring.peek()) {
      const { informer, rows } = readReturned(ring);
      this.#caches.get(informer)?.rowsReturned(rows);
      ring.advance();
    }
    // Rows that had no room stay with the thread until it has something to do.
    if (ring.releaseToWaiting() === 'producer may wait') this.#bell.ring();
  }

  /**
   * The word is set before the last attempt, and the thread reads it after it has released records and returned rows: one
   * of both sees the other.
   */
  #writeAll(): void {
    if (this.#writeSome()) {
      this.#announce(this.formers > 0);
    } else {
      this.#announce(true);
      this.#writeSome();
    }
  }

  #announce(isWaiting: boolean): void {
    if (isWaiting === this.#isAnnounced) return;
    this.#isAnnounced = isWaiting;
    this.#waitingWord.store(isWaiting ? 1 : 0);
  }

  /** Returns whether nothing waits for the thread. */
  #writeSome(): boolean {
    this.isWaiting = false;
    let isHeld = false;
    for (const cache of this.#wanting) {
      const written = cache.write();
      if (written === 'no room') return false;
      if (written === 'all') this.#wanting.delete(cache);
      isHeld ||= written === 'held';
    }
    return this.#writeEnds() && !isHeld;
  }

  /** Returns whether all that may be written had room. */
  #writeEnds(): boolean {
    for (const [informer, failure] of this.#ends) {
      const reason = failure ? Buffer.from(JSON.stringify(toErrorMessage(failure))) : NO_TEXT;
      if (!this.writeMark(this.#writer, RowKind.Stopped, informer, '', reason)) return false;
      this.#ends.delete(informer);
    }
    if (this.#state !== 'finishing' || this.#open.size > 0) return true;
    if (!this.writeMark(this.#writer, RowKind.Closed, 0, '')) return false;
    this.#state = 'finished';
    return true;
  }
}

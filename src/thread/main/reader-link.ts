/**
 * The main thread's end of the link to a reading thread: the ring of states, the returned rows, and the numbers of
 * memory and decoders in that thread.
 */
import { toErrorMessage, withCode } from '../../base/errors.ts';
import type { KubeloomError } from '../../base/errors.ts';
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { MOVED_BYTES, RowKind, RowRecord, RowWriter, readReturned } from '../../shared/record/row.ts';
import { Bell } from '../../shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../shared/ring/ring.ts';
import { Word } from '../../shared/ring/word.ts';
import { shareMemory } from '../../replica/store/store-memory.ts';
import type { MemoryReader, SharedMemory, SlabMemory } from '../../replica/store/store-memory.ts';
import { BELL_LINE, CLOSED_LINE, WAITING_LINE } from '../messages.ts';
import type { LinkMemory, ToReader } from '../messages.ts';

/**
 * Result of an attempt to write: `later`, the version waits for the calls of the handler; `held`, a change waits until
 * the thread returns rows.
 */
export type Written = 'all' | 'later' | 'held' | 'no room';

/** An informer's cache for the thread: writes the records, and receives the returned rows. */
export interface LinkedCache {
  /** Number of rows that the thread holds. */
  readonly exportedCount: number;
  rowsReturned(rows: Int32Array): void;
  /** Writes marks, changes and the version, as far as there is room. */
  write(): Written;
  /** Ends the thread's cache; the thread may continue to read the rows that it holds. */
  fail(failure: KubeloomError): void;
  close(): void;
  /** Ends some of the exports of a closed link; true while there are more. */
  release(): boolean;
}

export interface ReaderLinkOptions {
  /** Sends a message to the thread. */
  readonly post: (message: ToReader) => void;
  /** Called when the link breaks; the thread was asked to end. */
  readonly broken: (error: KubeloomError) => void;
}

type State =
  | 'open'
  /** Remaining records are written, followed by the request to close the port. */
  | 'finishing'
  /** The request is written. */
  | 'finished'
  /** Reads and writes have ended; the thread may still read its rows. */
  | 'broken'
  | 'closed';

const NO_TEXT: Buffer = Buffer.alloc(0);

interface KnownDecoder {
  readonly number: number;
  /** Number of structures that the thread received. */
  end: number;
}

export class ReaderLink implements MemoryReader {
  readonly #options: ReaderLinkOptions;
  readonly #ring: RingProducer;
  readonly #returned: RingConsumer;
  readonly #bell: Bell;
  readonly #waitingWord: Word;
  readonly #closedWord: Word;
  #isAnnounced = false;
  /** Number of former rows that the thread holds: their memory is freed when the thread returns them. */
  formers = 0;
  readonly #caches: Map<number, LinkedCache> = new Map();
  /** Caches with records to write. */
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
    this.#closedWord = new Word(view, CLOSED_LINE);
    this.#options = options;
    this.#writer = this.newWriter();
  }

  /** Whether the record of a row that is moved can be written at once. */
  get hasRoomForMove(): boolean {
    return !this.isWaiting && this.#ring.canClaim(MOVED_BYTES);
  }

  /** Number of rows that the thread holds. */
  get exportedCount(): number {
    let rows = 0;
    for (const { exportedCount } of this.#caches.values()) rows += exportedCount;
    return rows;
  }

  add(informer: number, cache: LinkedCache): void {
    this.#caches.set(informer, cache);
    this.#open.add(informer);
  }

  /** Makes the next turn write the records of this cache. */
  want(cache: LinkedCache): void {
    this.#wanting.add(cache);
  }

  /** Returns a writer of records for an informer. */
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
    // There may be no drain left to run the link.
    queueMicrotask(this.runOnce);
  }

  /** Asks the thread to close the port when all its caches have ended. */
  finish(): void {
    if (this.#state === 'open') this.#state = 'finishing';
    this.runOnce();
  }

  /**
   * Returns the number of this memory. The thread learns the number before it reads the next record.
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

  /** Returns the number of this decoder. The thread receives the structures before it reads the next record. */
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
   * Takes returned rows, then writes and publishes records; called after each round of the drain, and when the thread
   * reports progress.
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

  /**
   * Ends the thread's caches at once, not behind the written records, after an error in the link itself. The rows stay
   * until the port closes.
   */
  fail(error: KubeloomError): void {
    if (this.#state === 'broken' || this.#state === 'closed') return;
    this.#state = 'broken';
    // Rows of the thread are no longer moved.
    this.isWaiting = true;
    this.#options.post({ type: 'broken', error: toErrorMessage(error) });
    this.#options.broken(error);
    for (const cache of this.#caches.values()) cache.fail(error);
  }

  /** Ends the link: the main thread stops writing, waits end, and `release` ends the exports. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#closedWord.store(1);
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
    // Rows that did not fit into the ring stay in the thread until the bell wakes it.
    if (ring.releaseToWaiting() === 'producer may wait') this.#bell.ring();
  }

  /**
   * If records must wait, sets the waiting word and tries once more. The thread releases records and returns rows, then
   * reads the word. So either the retry succeeds or the thread sees the word.
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

  /** Returns whether no record waits for room, or for rows that the thread must return. */
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

  /** Returns whether there was room for all ends. */
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

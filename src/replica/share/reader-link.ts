/**
 * The main thread's end of the link to one thread that reads its caches: the ring of states, the returned rows, and the
 * numbers under which the thread has memory and decoders.
 */
import type { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { MOVED_BYTES, readReturned } from '../../shared/record/state.ts';
import { Bell } from '../../shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../shared/ring/ring.ts';
import { Word } from '../../shared/ring/word.ts';
import { shareMemory } from '../store/store-memory.ts';
import type { MemoryReader, SharedMemory, SlabMemory } from '../store/store-memory.ts';
import { BELL_LINE, WAITING_LINE } from './messages.ts';
import type { LinkMemory, ToReader } from './messages.ts';

/** One informer's cache for the thread: its records come from it, and rows return to it. */
export interface LinkedCache {
  /** Number of rows that the thread has. */
  readonly lentRows: number;
  takeBack(rows: Int32Array): void;
  /** Writes the version of the cache if it alone has changed. */
  writePosition(): void;
  close(): void;
  /** Ends some of the loans of a closed link; true while there are more. */
  release(): boolean;
}

/** A record that waits for room. */
interface Waiting {
  /** Returns whether it was written. */
  readonly write: () => boolean;
  readonly written: () => void;
}

interface KnownDecoder {
  readonly number: number;
  /** Number of structures that the thread has. */
  end: number;
}

export class ReaderLink implements MemoryReader {
  readonly ring: RingProducer;
  /** Sends a message to the thread. */
  readonly post: (message: ToReader) => void;
  readonly #returned: RingConsumer;
  readonly #bell: Bell;
  readonly #waitingWord: Word;
  #isWaitingShown = false;
  /** Number of former rows that the thread has: their memory is free when it has returned them. */
  formers = 0;
  readonly #caches: Map<number, LinkedCache> = new Map();
  #waiting: Waiting[] = [];
  readonly #memories: Map<ArrayBufferLike, number> = new Map();
  readonly #pools: Set<SlabMemory> = new Set();
  readonly #decoders: Map<MsgpackDecoder, KnownDecoder> = new Map();
  #memoryNumber = 0;
  #isClosed = false;

  constructor({ states, returned, words }: LinkMemory, post: (message: ToReader) => void) {
    this.ring = new RingProducer(new RingMemory(states));
    this.#returned = new RingConsumer(new RingMemory(returned));
    const view = new Int32Array(words);
    this.#bell = new Bell(view, BELL_LINE);
    this.#waitingWord = new Word(view, WAITING_LINE);
    this.post = post;
  }

  /** Whether records wait for room. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the record of a row that is moved can be written at once. */
  get hasRoomForMove(): boolean {
    return !this.isWaiting && this.ring.canClaim(MOVED_BYTES);
  }

  /** Number of rows that the thread has. */
  get lentRows(): number {
    let rows = 0;
    for (const { lentRows } of this.#caches.values()) rows += lentRows;
    return rows;
  }

  add(informer: number, cache: LinkedCache): void {
    this.#caches.set(informer, cache);
  }

  /** Writes a record now, or after those that wait for room: then a promise. @param write returns whether it had room */
  send(write: () => boolean): Promise<void> | undefined {
    if (this.#isClosed || (this.#waiting.length === 0 && write())) return undefined;
    return new Promise((written) => this.#waiting.push({ write, written }));
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
    this.post({ type: 'memory', number, memory: buffer as SharedArrayBuffer });
    return number;
  }

  forget(memory: ArrayBufferLike): void {
    const number = this.#memories.get(memory);
    if (number === undefined) return;
    this.#memories.delete(memory);
    if (!this.#isClosed) this.post({ type: 'forget', number });
  }

  collect(): void {
    if (!this.#isClosed) this.post({ type: 'collect' });
  }

  /** Returns the number of this decoder, whose structures the thread has when it reads the next record. */
  decoderNumberOf(decoder: MsgpackDecoder): number {
    let known = this.#decoders.get(decoder);
    if (!known) this.#decoders.set(decoder, (known = { number: this.#decoders.size + 1, end: -1 }));
    if (known.end !== decoder.end) {
      const record = decoder.since(Math.max(0, known.end));
      known.end = decoder.end;
      this.post({ type: 'structures', decoder: known.number, record });
    }
    return known.number;
  }

  /**
   * Takes returned rows, writes what waits for room, and shows the thread what was written; after each round of the drain,
   * and when the thread reports progress.
   */
  turn(): void {
    if (this.#isClosed) return;
    this.#takeReturned();
    for (const cache of this.#caches.values()) cache.writePosition();
    this.#writeWaiting();
    this.#showWaiting(this.isWaiting || this.formers > 0);
    if (this.ring.publish()) this.#bell.ring();
  }

  /** Ends the link: the main thread writes nothing any more, waits end, and `release` ends the loans. */
  close(): void {
    if (this.#isClosed) return;
    this.#takeReturned();
    this.#isClosed = true;
    for (const cache of this.#caches.values()) cache.close();
    for (const { written } of this.#waiting) written();
    this.#waiting = [];
    this.#memories.clear();
    for (const { readers } of this.#pools) readers.delete(this);
    this.#decoders.clear();
  }

  /** Ends some of the loans of a closed link; true while there are more. */
  release(): boolean {
    let hasMore = false;
    for (const cache of this.#caches.values()) hasMore = cache.release() || hasMore;
    return hasMore;
  }

  #takeReturned(): void {
    const ring = this.#returned;
    while (ring.peek()) {
      const { informer, rows } = readReturned(ring);
      this.#caches.get(informer)?.takeBack(rows);
      ring.advance();
    }
    // Rows that had no room stay with the thread until it has something to do.
    if (ring.releaseToWaiting() === 'producer may wait') this.#bell.ring();
  }

  /**
   * The word is set before the last attempt, and the thread reads it after it has released records: one of both sees the
   * other.
   */
  #writeWaiting(): void {
    if (this.#waiting.length === 0) return;
    this.#writeSome();
    if (this.#waiting.length === 0) return;
    this.#showWaiting(true);
    this.#writeSome();
  }

  #showWaiting(isShown: boolean): void {
    if (isShown === this.#isWaitingShown) return;
    this.#isWaitingShown = isShown;
    this.#waitingWord.store(isShown ? 1 : 0);
  }

  #writeSome(): void {
    let count = 0;
    for (const { write, written } of this.#waiting) {
      if (!write()) break;
      written();
      count++;
    }
    this.#waiting.splice(0, count);
  }
}

/** The reading thread's end of the link: takes the records of all informers, and returns the ended rows. */
import { KubeloomError, assert, fromErrorMessage } from '../../base/errors.ts';
import type { ErrorMessage } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import { RowKind, RowReader, RowRecord, writeReturned } from '../../shared/record/row.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../shared/ring/ring.ts';
import { Word } from '../../shared/ring/word.ts';
import type { Merger } from '../../replica/merge/drain.ts';
import { WAITING_LINE } from '../messages.ts';
import type { LinkMemory } from '../messages.ts';
import type { ReplicaReader } from './replica-reader.ts';

/** Rows in a record. */
const RETURNED_PER_RECORD = 256;
/**
 * Returned rows after which a message wakes the main thread; below that, the main thread finds them at its next turn.
 */
const UNTOLD_ROWS_MAX = 1024;

export interface ExportRingReaderOptions {
  readonly memory: LinkMemory;
  /** Wakes the main thread. */
  readonly progress: () => void;
  /** Called when an informer's cache has received every record and no longer changes. */
  readonly stopped: (informer: number, failure: KubeloomError | undefined) => void;
  /** Called after the last record. */
  readonly closed: () => void;
  /** Called when a record is invalid; the reader stops merging. */
  readonly broken: (error: KubeloomError) => void;
}

export class ExportRingReader implements Merger {
  readonly #options: ExportRingReaderOptions;
  readonly #states: RingConsumer;
  readonly #reader: RowReader;
  readonly #returned: RingProducer;
  readonly #waiting: Word;
  readonly #merges: Map<number, ReplicaReader> = new Map();
  readonly #record: RowRecord = new RowRecord();
  /** Ended rows that are not in the ring yet. */
  readonly #ended: number[] = [];
  #untold = 0;
  #hasEnded = false;
  /** Number of records merged so far. */
  records = 0;

  constructor(options: ExportRingReaderOptions) {
    const { states, returned, words } = options.memory;
    this.#options = options;
    this.#states = new RingConsumer(new RingMemory(states));
    this.#reader = new RowReader(this.#states);
    this.#returned = new RingProducer(new RingMemory(returned));
    this.#waiting = new Word(new Int32Array(words), WAITING_LINE);
  }

  attach(informer: number, merge: ReplicaReader): void {
    this.#merges.set(informer, merge);
  }

  merge(count: number): number {
    let taken = 0;
    try {
      while (taken < count && !this.#hasEnded && this.#states.peek()) {
        const text = this.#reader.read(this.#record);
        if (text) this.#take(this.#record, text);
        this.#states.advance();
        taken++;
      }
    } catch (error) {
      if (!(error instanceof KubeloomError) || error.code !== 'ERR_KUBELOOM_ASSERTION') throw error;
      this.#hasEnded = true;
      this.#options.broken(error);
    }
    this.records += taken;
    return taken;
  }

  publish(): void {
    const hasReleased = this.#states.release();
    if (hasReleased && this.#waiting.load() !== 0) this.#options.progress();
  }

  hasWork(): boolean {
    return !this.#hasEnded && this.#states.hasRecord;
  }

  /** Ends the merging; rows are still returned. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Whether this thread has read every record, and the main thread has no record to write. */
  get isLevel(): boolean {
    return !this.#states.hasRecord && this.#waiting.load() === 0;
  }

  #take(record: RowRecord, text: Buffer): void {
    const { stopped, closed } = this.#options;
    if (record.kind === RowKind.Closed) {
      closed();
      return;
    }
    if (record.kind === RowKind.Stopped) stopped(record.informer, failureOf(record, text));
    else this.#merges.get(record.informer)?.take(record, text);
  }

  /** Returns the ended rows to the main thread; called after each round of the drain. */
  returnRows(): void {
    let isFull = false;
    for (const [informer, { table }] of this.#merges) isFull = !this.#returnRows(informer, table) || isFull;
    if (
      this.#returned.publish() &&
      (isFull || this.#untold >= UNTOLD_ROWS_MAX || this.#waiting.load() !== 0)
    ) {
      this.#untold = 0;
      this.#options.progress();
    }
  }

  /** Returns whether all ended rows are in the ring. The others stay in the table's list. */
  #returnRows(informer: number, table: ReplicaReader['table']): boolean {
    const rows = this.#ended;
    for (;;) {
      while (rows.length < RETURNED_PER_RECORD) {
        const row = table.takeEnded();
        if (row === undefined) break;
        rows.push(row);
      }
      if (rows.length === 0) return true;
      const isWritten = writeReturned(this.#returned, informer, rows);
      if (!isWritten) {
        for (const row of rows) table.keepEnded(row);
      } else this.#untold += rows.length;
      rows.length = 0;
      if (!isWritten) return false;
    }
  }
}

/** Returns the reason of an end. */
function failureOf({ textOffset, extractedLength }: RowRecord, text: Buffer): KubeloomError | undefined {
  if (extractedLength === 0) return undefined;
  const error = parseJson(text.toString('utf8', textOffset, textOffset + extractedLength));
  assert(error !== undefined, 'the reason of an end is not JSON');
  return fromErrorMessage(error as ErrorMessage);
}

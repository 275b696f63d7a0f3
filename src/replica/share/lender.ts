/**
 * One informer's cache for one other thread, on the main thread: a handler whose calls write records. While the ring is
 * full a call is a promise, so a thread that does not read is a slow handler, with all that follows.
 */
import { KubeloomError, toErrorMessage } from '../../base/errors.ts';
import { StateKind, StateRecord, stateBytes, writeState } from '../../shared/record/state.ts';
import type { ResourceEventHandler } from '../deliver/handler.ts';
import type { ListEvents } from '../deliver/processor-listener.ts';
import { NONE } from '../store/columns.ts';
import type { EntryOwner } from '../store/entry-owner.ts';
import { EntryFlag } from '../store/entry.ts';
import type { Borrowed, DeletedFinalStateUnknown, Entry } from '../store/entry.ts';
import type { ObjectFacts } from '../store/extracted-fields.ts';
import type { Replica } from '../store/replica.ts';
import { ThreadLoans } from './loans.ts';
import type { Loans } from './loans.ts';
import type { LinkedCache, ReaderLink } from './reader-link.ts';

/** Flags of a row that are about its object, not about this thread. */
const OBJECT_FLAGS: number =
  EntryFlag.TooLarge |
  EntryFlag.TransformFailed |
  EntryFlag.Malformed |
  EntryFlag.Quarantined |
  EntryFlag.Packed;

const NO_TEXT: Buffer = Buffer.alloc(0);

export interface LenderOptions {
  /** Returns the storage of the rows, from the first delivery on. */
  readonly owner: () => EntryOwner;
  readonly replica: Pick<Replica, 'live' | 'hasSynced'>;
  readonly loans: Loans;
  /** Returns whether all notifications before now were delivered. */
  readonly isIdle: () => boolean;
  /** Ends the delivery to this lender. */
  readonly remove: () => void;
}

export class Lender implements ResourceEventHandler<unknown>, ListEvents, LinkedCache {
  readonly #informer: number;
  readonly #options: LenderOptions;
  readonly link: ReaderLink;
  readonly #loans: ThreadLoans;
  readonly #record: StateRecord = new StateRecord();
  readonly #text: TextWriter = new TextWriter();
  /** The last version that was written. */
  #version: number | string = '';
  #isClosed = false;

  constructor(informer: number, link: ReaderLink, options: LenderOptions) {
    this.#informer = informer;
    this.link = link;
    this.#options = options;
    this.#loans = new ThreadLoans(options.loans);
  }

  /** Number of rows that the thread has. */
  get lentRows(): number {
    return this.#loans.count;
  }

  onAdd(added: Borrowed<unknown>): Promise<void> | undefined {
    return this.#send(added as Entry, StateKind.Put, undefined);
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): Promise<void> | undefined {
    return this.#send(current as Entry, StateKind.Put, previous as Entry);
  }

  onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): Promise<void> | undefined {
    if (!deleted.finalStateUnknown) return this.#send(deleted as Entry, StateKind.Deleted, undefined);
    return this.#send(deleted.last as Entry, StateKind.Missing, undefined);
  }

  listBegins(): void {
    this.#sendControl(StateKind.ListBegin, '');
  }

  listEnds(version: number | string): void {
    this.#sendControl(StateKind.ListEnd, version);
  }

  /** Writes the version of the cache if it alone has changed. */
  writePosition(): void {
    const { replica, isIdle } = this.#options;
    const { version } = replica.live;
    if (this.#isClosed || !replica.hasSynced || version === this.#version || !isIdle()) return;
    this.#sendControl(StateKind.Position, version);
  }

  /** Writes where the row is now. The thread reads the former row until it has taken that record. */
  moved(row: number, former: number): void {
    if (this.#isClosed || !this.#loans.has(row)) return;
    this.#loans.begin(former);
    void this.link.send(() => this.#isClosed || this.#writeMoved(row, former));
  }

  takeBack(rows: Int32Array): void {
    for (const row of rows) this.#loans.end(row);
  }

  /** Called when the last call has returned: the cache of the thread changes no more. @param failure the reason */
  ended(failure: KubeloomError | undefined): void {
    if (this.#isClosed) return;
    this.link.turn();
    const error = failure && toErrorMessage(failure);
    this.link.post({ type: 'stopped', informer: this.#informer, error });
  }

  /** Ends all deliveries. Nothing is written from now on; `release` ends the loans. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.remove();
  }

  /** Ends some of the loans of a closed lender; true while there are more. */
  release(): boolean {
    return this.#loans.endAll();
  }

  #send(entry: Entry, kind: StateKind, previous: Entry | undefined): Promise<void> | undefined {
    const { link } = this;
    if (this.#isClosed || (!link.isWaiting && this.#write(entry, kind, previous))) return undefined;
    return link.send(() => this.#isClosed || this.#write(entry, kind, previous));
  }

  #sendControl(kind: StateKind, version: number | string): void {
    this.#version = version;
    void this.link.send(() => this.#isClosed || this.#writeControl(kind, version));
  }

  #writeControl(kind: StateKind, version: number | string): boolean {
    const record = this.#record;
    const text = Buffer.from(String(version), 'latin1');
    record.informer = this.#informer;
    record.kind = kind;
    record.row = NONE;
    record.version = String(version);
    record.namespaceLength = 0;
    record.nameLength = 0;
    record.resourceVersionTextLength = text.length;
    record.extractedLength = 0;
    return writeState(this.link.ring, record, text);
  }

  /** Writes the record with the place that the row has now; the thread has the row from then on. */
  #write(entry: Entry, kind: StateKind, previous: Entry | undefined): boolean {
    const record = this.#record;
    const { row, facts } = entry;
    record.informer = this.#informer;
    record.row = row;
    record.namespaceLength = 0;
    record.nameLength = 0;
    record.resourceVersionTextLength = 0;
    record.extractedLength = 0;
    if (this.#loans.has(row)) {
      record.kind = kind === StateKind.Put ? StateKind.Kept : kind;
      return writeState(this.link.ring, record, NO_TEXT);
    }
    record.kind = kind;
    this.#locate(record, row);
    const text = this.#text.write(record, facts, entry.version, previous?.facts);
    record.previousRow = previous?.row ?? NONE;
    if (stateBytes(text) > this.link.ring.payloadBytesMax) {
      this.#fail(facts, text.length);
      return true;
    }
    if (!writeState(this.link.ring, record, text)) return false;
    this.#loans.begin(row);
    this.#version = entry.version;
    return true;
  }

  /** Ends the informer for the thread, which would lack the object. */
  #fail({ key }: ObjectFacts, bytes: number): void {
    const bytesMax = this.link.ring.payloadBytesMax;
    const message =
      `${key}: its name, labels and declared fields have ${bytes} bytes, and other threads receive up to ${bytesMax}; ` +
      'declare fields with shorter values';
    const error = toErrorMessage(new KubeloomError('ERR_KUBELOOM_OBJECT_TOO_LARGE', message));
    this.link.post({ type: 'stopped', informer: this.#informer, error });
    this.close();
  }

  #writeMoved(row: number, former: number): boolean {
    // The thread may have returned the row while the record waited for room.
    if (!this.#loans.has(row)) {
      this.#loans.end(former);
      return true;
    }
    const record = this.#record;
    record.informer = this.#informer;
    record.kind = StateKind.Moved;
    record.row = row;
    record.previousRow = former;
    this.#locate(record, row);
    record.namespaceLength = 0;
    record.nameLength = 0;
    record.resourceVersionTextLength = 0;
    record.extractedLength = 0;
    record.version = 0;
    return writeState(this.link.ring, record, NO_TEXT);
  }

  #locate(record: StateRecord, row: number): void {
    const { table, packed, slabs } = this.#options.owner();
    const isPacked = table.hasFlag(row, EntryFlag.Packed);
    record.memory = this.link.numberOf((isPacked ? packed.slabs : slabs).slabOf(row));
    record.dictionary = isPacked ? this.link.numberOf(packed.dictionaryOf(row)) : NONE;
    record.offset = table.offsetOf(row);
    record.storedBytes = table.storedBytesOf(row);
    record.length = table.lengthOf(row);
    record.flags = table.flagsOf(row) & OBJECT_FLAGS;
    record.version = table.versionOf(row);
    const decoder = table.decoderOf(row);
    record.decoder = decoder ? this.link.decoderNumberOf(decoder) : 0;
  }
}

const TEXT_BYTES = 1024;
/** Bytes of a character in UTF-8, at most, for each unit of a string. */
const BYTES_PER_UNIT = 3;

/** Writes the variable part of a record into one buffer. */
class TextWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(TEXT_BYTES);

  /** @param previous the facts of the object's previous state, which the thread has */
  write(
    record: StateRecord,
    facts: ObjectFacts,
    version: number | string,
    previous: ObjectFacts | undefined,
  ): Buffer {
    const { namespace, name, uid, fields } = facts;
    const isText = typeof version === 'string';
    record.hasSameFields = previous !== undefined && facts.equals(previous);
    if (record.hasSameFields && !isText) return NO_TEXT;
    const versionText = isText ? version : '';
    const units =
      namespace.length + name.length + versionText.length + 6 * uid.length + fields.text.length + 8;
    if (units * BYTES_PER_UNIT > this.#bytes.length)
      this.#bytes = Buffer.allocUnsafeSlow(units * BYTES_PER_UNIT);
    const bytes = this.#bytes;
    let end = 0;
    if (!previous) {
      end = record.namespaceLength = bytes.write(namespace, 0, 'utf8');
      end += record.nameLength = bytes.write(name, end, 'utf8');
    }
    if (isText) end += record.resourceVersionTextLength = bytes.write(versionText, end, 'latin1');
    const hasArray = !record.hasSameFields && (uid !== '' || fields.text !== '');
    if (hasArray) {
      const start = end;
      end += bytes.write(`[${JSON.stringify(uid)}`, end, 'utf8');
      end += bytes.write(fields.text, end, 'latin1');
      record.extractedLength = end - start;
    }
    return bytes.subarray(0, end);
  }
}

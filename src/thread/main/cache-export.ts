/**
 * An informer's cache for a reading thread, on the main thread: a handler whose calls write records. While the ring is
 * full, or the thread holds too many bytes of old states, the call is a pending promise. So a thread that does not read
 * is a slow handler, whose changes become a list when the backlogs exceed their budget. This class queues no changes:
 * besides the call in progress it holds the marks of a list and a version to be written.
 */
import { assert } from '../../base/errors.ts';
import type { KubeloomError } from '../../base/errors.ts';
import { RowKind, RowRecord, RowWriter } from '../../shared/record/row.ts';
import type { ResourceEventHandler } from '../../replica/deliver/handler.ts';
import type { CacheWriter } from '../../replica/deliver/processor-listener.ts';
import { NO_ROW } from '../../replica/store/columns.ts';
import { SnapshotCursor } from '../../replica/store/deliveries.ts';
import type { DeliveryCursor } from '../../replica/store/deliveries.ts';
import type { EntryOwner } from '../../replica/store/entry-owner.ts';
import { EntryFlag } from '../../replica/store/entry.ts';
import type { EntryTable } from '../../replica/store/entry-table.ts';
import type { DeletedFinalStateUnknown } from '../../replica/store/deleted-final-state-unknown.ts';
import type { Entry } from '../../replica/store/entry.ts';
import type { Borrowed } from '../../replica/store/cached-object.ts';
import type { ObjectFacts } from '../../replica/store/extracted-fields.ts';
import type { Replica } from '../../replica/store/replica.ts';
import { OPEN, isWriting, stepCacheExport } from './cache-export-step.ts';
import type { CacheExportEvent, CacheExportState } from './cache-export-step.ts';
import { ExportedRows } from './exported-rows.ts';
import { NO_MEMORY } from '../messages.ts';
import type { LinkedCache, ReaderLink, Written } from './reader-link.ts';

/** Flags of a row that describe the object, not this thread. */
const OBJECT_FLAGS: number =
  EntryFlag.TooLarge | EntryFlag.TransformFailed | EntryFlag.Malformed | EntryFlag.Packed;

const NO_TEXT: Buffer = Buffer.alloc(0);

export interface CacheExportOptions {
  readonly table: EntryTable;
  /** Returns the storage of the rows, from the first delivery on. */
  readonly owner: () => EntryOwner;
  readonly replica: Pick<Replica, 'live' | 'hasSynced'>;
  /** Bytes of old states that the thread may hold before changes wait. */
  readonly heldBytesMax: number;
  /** Returns whether all notifications before now were delivered. */
  readonly isIdle: () => boolean;
  /** Ends the delivery to this cache export. */
  readonly remove: () => void;
}

/** Beginning or end of a list. @member version of the end; '' for the beginning */
interface Mark {
  readonly kind: typeof RowKind.ListBegin | typeof RowKind.ListEnd;
  readonly version: number | string;
}

/** The call in progress, which waits for room. */
interface Call {
  readonly row: number;
  readonly kind: RowKind;
  readonly previousRow: number;
  readonly written: () => void;
}

export class CacheExport implements ResourceEventHandler<unknown>, CacheWriter, LinkedCache {
  readonly #informer: number;
  readonly #options: CacheExportOptions;
  readonly link: ReaderLink;
  readonly #exportedRows: ExportedRows;
  readonly #record: RowRecord = new RowRecord();
  readonly #writer: RowWriter;
  readonly #text: TextWriter = new TextWriter();
  #state: CacheExportState = OPEN;
  #call: Call | undefined;
  /** Marks of lists that wait for room: the end of a list that has begun, and an empty list. */
  #marks: Mark[] = [];
  #isInList = false;
  /** The version of the last record, or of the last mark. */
  #version: number | string = '';

  constructor(informer: number, link: ReaderLink, options: CacheExportOptions) {
    this.#informer = informer;
    this.link = link;
    this.#writer = link.newWriter();
    this.#options = options;
    this.#exportedRows = new ExportedRows(options.table);
  }

  /** Number of rows that the thread holds. */
  get exportedCount(): number {
    return this.#exportedRows.count;
  }

  /** Length of these rows' objects. */
  get exportedBytes(): number {
    return this.#exportedRows.bytes;
  }

  get heldBytes(): number {
    return this.#exportedRows.supersededBytes;
  }

  /** Whether a row that the thread holds may be moved: the record of the move can be written at once. */
  get mayMove(): boolean {
    return this.link.hasRoomForMove && !this.#isHeld;
  }

  changed(oldRow: number, newRow: number): boolean {
    if (!isWriting(this.#state)) return true;
    if (this.#mustWait) return false;
    return newRow === NO_ROW
      ? this.#write(oldRow, RowKind.Deleted, NO_ROW)
      : this.#write(newRow, RowKind.Put, oldRow);
  }

  onAdd(added: Borrowed<unknown>): Promise<void> | undefined {
    return this.#send(added, RowKind.Put, undefined);
  }

  onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): Promise<void> | undefined {
    return this.#send(current, RowKind.Put, previous);
  }

  onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): Promise<void> | undefined {
    if (!deleted.finalStateUnknown) return this.#send(deleted, RowKind.Deleted, undefined);
    return this.#send(deleted.last, RowKind.Missing, undefined);
  }

  listBegins(): void {
    this.#mark({ kind: RowKind.ListBegin, version: '' });
  }

  listEnds(version: number | string): void {
    this.#version = version;
    this.#mark({ kind: RowKind.ListEnd, version });
  }

  /** Called after a merge: the cache may have reached a version that no record carries. */
  merged(): void {
    if (this.#state.kind === 'open') this.link.want(this);
  }

  /** Accepts no later change. */
  leaves(): void {
    this.#apply({ type: 'leave' });
  }

  /** Returns the cache as a list: the thread's cache becomes equal to it. */
  list(): DeliveryCursor {
    const { table, replica } = this.#options;
    return new SnapshotCursor({ table, live: replica.live }, 'join');
  }

  /** Called when the handler has ended: the thread's cache no longer changes. */
  ended(): void {
    this.#apply({ type: 'remove' });
  }

  /** Ends the thread's cache. The rows that the thread holds stay readable. */
  fail(failure: KubeloomError): void {
    this.#apply({ type: 'fail', failure });
  }

  /** Ends all deliveries and all writes; `release` ends the exports. */
  close(): void {
    this.#apply({ type: 'close' });
  }

  /**
   * If the thread holds this row, sends the new place of the row and returns true. There is room for the record,
   * because rows are moved only if there is. Until the thread reads the record, it uses the former row.
   */
  moved(row: number, former: number): boolean {
    if (this.#state.kind === 'closed' || !this.#exportedRows.has(row)) return false;
    this.#exportedRows.begin(former);
    this.link.formers++;
    assert(this.#writeMoved(row, former), 'a row was moved without room for its record', row);
    return true;
  }

  rowsReturned(rows: Int32Array): void {
    const { table } = this.#options;
    for (const row of rows) {
      if (this.link.formers > 0 && table.hasFlag(row, EntryFlag.Moved)) this.link.formers--;
      this.#exportedRows.end(row);
    }
  }

  /** Ends some of the exports of a closed cache export; true while there are more. */
  release(): boolean {
    return this.#exportedRows.endAll();
  }

  /** Writes marks, the call in progress, and the version, as far as there is room. */
  write(): Written {
    if (!this.#writeMarks()) return 'no room';
    const call = this.#call;
    if (call) {
      if (this.#isHeld) return 'held';
      if (!this.#write(call.row, call.kind, call.previousRow)) return 'no room';
      this.#call = undefined;
      call.written();
    }
    return this.#writePosition();
  }

  /** Enters the next state; drops the call and the marks if no more changes are written. */
  #apply(event: CacheExportEvent): void {
    const before = this.#state;
    const state = (this.#state = stepCacheExport(before, event));
    if (state === before || isWriting(state)) return;
    const call = this.#call;
    this.#call = undefined;
    this.#marks = [];
    if (state.kind !== 'closed')
      this.link.end(this.#informer, state.kind === 'failed' ? state.failure : undefined);
    if (isWriting(before) && state.kind !== 'removed') this.#options.remove();
    call?.written();
  }

  /**
   * Whether the thread holds so many bytes that changes must wait until it returns rows. During a list the thread
   * cannot return the rows that the list replaces.
   */
  get #isHeld(): boolean {
    return !this.#isInList && this.#exportedRows.supersededBytes > this.#options.heldBytesMax;
  }

  get #mustWait(): boolean {
    const isPending = this.#call !== undefined || this.#marks.length > 0;
    return isPending || this.link.isWaiting || this.#isHeld;
  }

  #send(
    entry: Borrowed<unknown>,
    kind: RowKind,
    previous: Borrowed<unknown> | undefined,
  ): Promise<void> | undefined {
    const { row } = entry as Entry;
    const previousRow = previous ? (previous as Entry).row : NO_ROW;
    if (!isWriting(this.#state) || (!this.#mustWait && this.#write(row, kind, previousRow))) return undefined;
    this.link.want(this);
    return new Promise((written) => (this.#call = { row, kind, previousRow, written }));
  }

  /**
   * Writes a mark, or adds it to the waiting marks. Of two empty lists that both wait, the first is left out: the second
   * has the newer state. The end of a list that has begun stays.
   */
  #mark(mark: Mark): void {
    if (!isWriting(this.#state)) return;
    const marks = this.#marks;
    marks.push(mark);
    const waiting = this.#isInList ? 1 : 0;
    if (marks.length > waiting + 2) marks.splice(waiting, 2);
    if (this.link.isWaiting || !this.#writeMarks()) this.link.want(this);
  }

  /** Returns whether all waiting marks are written. */
  #writeMarks(): boolean {
    for (let [mark] = this.#marks; mark !== undefined; [mark] = this.#marks) {
      if (!this.link.writeMark(this.#writer, mark.kind, this.#informer, mark.version)) return false;
      this.#isInList = mark.kind === RowKind.ListBegin;
      this.#marks.shift();
    }
    return true;
  }

  /** Writes the version of the cache if only the version changed. */
  #writePosition(): Written {
    const { replica, isIdle } = this.#options;
    const { version } = replica.live;
    if (this.#state.kind !== 'open' || !replica.hasSynced || version === this.#version) return 'all';
    if (!isIdle()) return 'later';
    if (!this.link.writeMark(this.#writer, RowKind.Position, this.#informer, version)) return 'no room';
    this.#version = version;
    return 'all';
  }

  /** Writes the record with the present place of the row; from then on the thread holds the row. */
  #write(row: number, kind: RowKind, previousRow: number): boolean {
    const record = this.#record;
    const { table } = this.#options;
    record.informer = this.#informer;
    record.row = row;
    record.namespaceLength = 0;
    record.nameLength = 0;
    record.resourceVersionTextLength = 0;
    record.extractedLength = 0;
    if (this.#exportedRows.has(row)) {
      record.kind = kind === RowKind.Put ? RowKind.Kept : kind;
      if (!this.link.write(this.#writer, record, NO_TEXT)) return false;
      if (kind === RowKind.Put) this.#exportedRows.keep(row);
      else this.#exportedRows.supersede(row);
      return true;
    }
    record.kind = kind;
    this.#locate(record, row);
    const facts = table.factsOf(row);
    const previous = previousRow === NO_ROW ? undefined : table.factsOf(previousRow);
    const text = this.#text.write(record, facts, record.version, previous);
    record.previousRow = previousRow;
    if (!this.link.write(this.#writer, record, text)) return false;
    this.#exportedRows.begin(row);
    this.#exportedRows.supersede(kind === RowKind.Put ? previousRow : row);
    this.#version = record.version;
    return true;
  }

  #writeMoved(row: number, former: number): boolean {
    const record = this.#record;
    record.informer = this.#informer;
    record.kind = RowKind.Moved;
    record.row = row;
    record.previousRow = former;
    this.#locate(record, row);
    record.namespaceLength = 0;
    record.nameLength = 0;
    record.resourceVersionTextLength = 0;
    record.extractedLength = 0;
    record.version = 0;
    return this.link.write(this.#writer, record, NO_TEXT);
  }

  #locate(record: RowRecord, row: number): void {
    const { table, owner } = this.#options;
    const { packed, slabs } = owner();
    const flags = table.flagsOf(row);
    const isPacked = (flags & EntryFlag.Packed) !== 0;
    const stored = isPacked ? packed.slabs : slabs;
    record.memory = this.link.numberOf(stored.slabOf(row), stored.memory);
    record.dictionary = isPacked ? this.link.numberOf(packed.dictionaryOf(row), stored.memory) : NO_MEMORY;
    record.offset = table.offsetOf(row);
    record.storedBytes = table.storedBytesOf(row);
    record.length = table.lengthOf(row);
    record.flags = flags & OBJECT_FLAGS;
    record.version = table.versionOf(row);
    const decoder = table.decoderOf(row);
    record.decoder = decoder ? this.link.decoderNumberOf(decoder) : 0;
  }
}

const TEXT_BYTES = 1024;
/** Maximum UTF-8 bytes for each unit of a string. */
const BYTES_PER_UNIT = 3;

/** Writes the variable part of a record into a buffer. */
class TextWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(TEXT_BYTES);

  /** @param previous the facts of the object's previous state, which the thread holds */
  write(
    record: RowRecord,
    facts: ObjectFacts,
    version: number | string,
    previous: ObjectFacts | undefined,
  ): Buffer {
    const isText = typeof version === 'string';
    record.hasSameFields = previous !== undefined && facts.equals(previous);
    if (record.hasSameFields && !isText) return NO_TEXT;
    // Read only here: name and uid are made when they are read.
    const { namespace, name, uid, fields } = facts;
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
    if (isText) end += record.resourceVersionTextLength = bytes.write(versionText, end, 'utf8');
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

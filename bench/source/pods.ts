/**
 * The bytes of the high-rate source, all made before the first request: the items of a list, and rounds of MODIFIED
 * events. An event is like an update of status: the digits of the resourceVersion and of two times are overwritten in
 * place, and optionally the digits of an annotation.
 *
 * All revisions consist of ten digits, so that positions stay fixed:
 *
 *   1000000000 + 1 … + pods        the listed pods; the list itself has the last of these
 *   1000000000 + pods + 1 …        the events in sequence
 */

import { seededRandom } from '../../src/base/random.ts';
import {
  FIRST_REVISION,
  ObjectTemplates,
  revisionAt,
  sentAt,
  statusTimesAt,
  writeRevision,
  writeTime,
} from './object-templates.ts';
import type { TemplateOptions } from './object-templates.ts';
import { apiVersionOf } from '../../src/tools/apiserver/store/resources.ts';
import type { ResourceDefinition } from '../../src/tools/apiserver/store/resources.ts';

const BLOCK_BYTES = 1024 * 1024;
const LINE_START = '{"type":"MODIFIED","object":';
const METADATA = '"metadata":';
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSING = Buffer.from('}\n');

/** A megabyte of whole records in sequence. */
interface Block {
  readonly bytes: Buffer;
  /** The start of each record, and the end of the block as last element. */
  readonly starts: readonly number[];
  /**
   * Positions of the changing parts, the same number in every record. They are two long arrays, because the
   * garbage collector walks over objects.
   */
  readonly places: Places;
}

/** Positions of revisions and times. */
export interface Places {
  readonly revisions: readonly number[];
  readonly times: readonly number[];
}

const NOWHERE: Places = { revisions: [], times: [] };

/** Packs records into blocks. Places are relative to the start of their record. */
class BlockBuilder {
  readonly blocks: Block[] = [];
  #records: Buffer[] = [];
  #revisions: number[] = [];
  #times: number[] = [];
  #bytes = 0;

  add(record: Buffer, { revisions, times }: Places = NOWHERE): void {
    if (this.#bytes > 0 && this.#bytes + record.length > BLOCK_BYTES) this.finish();
    for (const at of revisions) this.#revisions.push(this.#bytes + at);
    for (const at of times) this.#times.push(this.#bytes + at);
    this.#records.push(record);
    this.#bytes += record.length;
  }

  finish(): Block[] {
    if (this.#records.length === 0) return this.blocks;
    const starts = [0];
    for (const record of this.#records) starts.push((starts.at(-1) ?? 0) + record.length);
    const bytes = Buffer.concat(this.#records);
    const places = { revisions: this.#revisions, times: this.#times };
    this.blocks.push({ bytes, starts, places });
    this.#records = [];
    this.#revisions = [];
    this.#times = [];
    this.#bytes = 0;
    return this.blocks;
  }
}

/** The items of the list in the order of their keys, each followed by a comma (the last by none). */
function makeItems(options: TemplateOptions): Block[] {
  const templates = new ObjectTemplates(options);
  const { pods } = options;
  const builder = new BlockBuilder();
  const keys = Array.from({ length: pods }, (_, index) => ({ index, key: templates.key(index) }));
  keys.sort((one, other) => (one.key < other.key ? -1 : 1));
  for (const [position, { index }] of keys.entries()) {
    const object = templates.make(index);
    // Items of built-in kinds have neither kind nor apiVersion.
    const pieces = templates.definition.custom ? [object] : [OPEN, object.subarray(object.indexOf(METADATA))];
    if (position < pods - 1) pieces.push(COMMA);
    builder.add(Buffer.concat(pieces));
  }
  return builder.finish();
}

export interface RoundOptions extends TemplateOptions {
  /** Limit of the bytes of a round; it determines the number of objects. */
  readonly roundBytesMax: number;
  readonly chunkPerEvent: boolean;
  /** `metadata`: also changes an annotation. */
  readonly changes: 'status' | 'metadata';
}

/** The bytes of an event, and the positions of the changing parts. */
export interface SourceEvent {
  readonly bytes: Buffer;
  readonly places: Places;
}

function jsonEvents(options: RoundOptions): (index: number) => SourceEvent {
  const templates = new ObjectTemplates(options);
  const opening = Buffer.from(LINE_START);
  const inLine = (at: number): number => opening.length + at;
  return (index) => {
    const pod = templates.make(index);
    const revisions = options.changes === 'metadata' ? [revisionAt(pod), sentAt(pod)] : [revisionAt(pod)];
    const places = { revisions: revisions.map(inLine), times: statusTimesAt(pod).map(inLine) };
    return { bytes: Buffer.concat([opening, pod, CLOSING]), places };
  };
}

/**
 * A round of events: each of its objects once, in a scattered order, optionally each in a separate HTTP chunk. A stream
 * uses a round exclusively, because it overwrites the bytes.
 */
export class EventRound {
  readonly blocks: readonly Block[];
  /** Number of events in a whole round. */
  readonly length: number;

  constructor(blocks: readonly Block[]) {
    this.blocks = blocks;
    this.length = blocks.reduce((sum, block) => sum + recordsOf(block), 0);
  }

  /** @param eventOf the event that changes object number `index` */
  static make(
    options: RoundOptions,
    eventOf: (index: number) => SourceEvent = jsonEvents(options),
  ): EventRound {
    const { pods, objectBytes, roundBytesMax, chunkPerEvent } = options;
    const builder = new BlockBuilder();
    const count = Math.min(pods, Math.max(1, Math.floor(roundBytesMax / objectBytes)));
    for (const index of shuffled(count)) {
      const { bytes, places } = eventOf(index);
      const head = chunkPerEvent ? `${bytes.length.toString(16)}\r\n` : '';
      const record = Buffer.concat([Buffer.from(head), bytes, Buffer.from(chunkPerEvent ? '\r\n' : '')]);
      const { revisions, times } = places;
      const inRecord = (at: number): number => head.length + at;
      builder.add(record, { revisions: revisions.map(inRecord), times: times.map(inRecord) });
    }
    return new EventRound(builder.finish());
  }

  /**
   * The bytes of events `from` up to at most `to`, within a block, with their revisions written. The revision of event
   * 0 is `firstRevision`.
   *
   * @param place of the first object, if rounds do not follow each other
   */
  slice(
    from: number,
    to: number,
    firstRevision: number,
    place: number = from,
  ): { bytes: Buffer; next: number } {
    let position = place % this.length;
    let block = this.blocks[0];
    for (const candidate of this.blocks) {
      block = candidate;
      if (position < recordsOf(candidate)) break;
      position -= recordsOf(candidate);
    }
    if (block === undefined) return { bytes: Buffer.alloc(0), next: from };
    const end = Math.min(recordsOf(block), position + to - from);
    for (let record = position; record < end; record++) {
      const offset = firstRevision - FIRST_REVISION + from + record - position;
      rewrite(block, record, offset);
    }
    const bytes = block.bytes.subarray(block.starts[position], block.starts[end]);
    return { bytes, next: from + end - position };
  }
}

function recordsOf({ starts }: Block): number {
  return starts.length - 1;
}

/** Rewrites revision and times of a record. */
function rewrite(block: Block, record: number, offset: number): void {
  const { bytes, places } = block;
  const { revisions, times } = places;
  const records = recordsOf(block);
  const revisionsEach = revisions.length / records;
  const timesEach = times.length / records;
  for (let at = record * revisionsEach; at < (record + 1) * revisionsEach; at++) {
    writeRevision(bytes, revisions[at] ?? 0, offset);
  }
  for (let at = record * timesEach; at < (record + 1) * timesEach; at++)
    writeTime(bytes, times[at] ?? 0, offset);
}

function shuffled(count: number): number[] {
  const random = seededRandom(1);
  const order = Array.from({ length: count }, (_, index) => index);
  for (let index = count - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0];
  }
  return order;
}

/** The answers about the state of the collection: a list, a page of a list, or initial events. */
export class SourceList {
  readonly #definition: ResourceDefinition;
  readonly #items: readonly Block[];
  readonly #objects: number;
  readonly #revision: number;

  constructor(options: TemplateOptions, revision: number) {
    this.#definition = new ObjectTemplates(options).definition;
    this.#items = makeItems(options);
    this.#objects = options.pods;
    this.#revision = revision;
  }

  /** The list, piece by piece. A limit counts unless the request is for any version (`resourceVersion=0`). */
  *page(query: URLSearchParams): Generator<Buffer> {
    const limit = query.get('resourceVersion') === '0' ? 0 : Number(query.get('limit') ?? 0);
    const from = Number(query.get('continue') ?? 0);
    const to = limit > 0 ? Math.min(this.#objects, from + limit) : this.#objects;
    const isLast = to === this.#objects;
    const metadata = {
      resourceVersion: String(this.#revision),
      ...(isLast ? {} : { continue: String(to), remainingItemCount: this.#objects - to }),
    };
    const { kind, custom } = this.#definition;
    const named = { kind: `${kind}List`, apiVersion: apiVersionOf(this.#definition) };
    if (custom) {
      // Sorted keys: the items precede kind and metadata.
      yield Buffer.from(`{"apiVersion":${JSON.stringify(named.apiVersion)},"items":[`);
      yield* this.#slices(from, to);
      yield Buffer.from(`],"kind":"${named.kind}","metadata":${JSON.stringify(metadata)}}\n`);
    } else {
      yield Buffer.from(`${JSON.stringify({ ...named, metadata }).slice(0, -1)},"items":[`);
      yield* this.#slices(from, to);
      yield Buffer.from(']}\n');
    }
  }

  /** An ADDED event for each object, and then the bookmark that ends them. */
  *initialEvents(hasBookmark: boolean): Generator<Buffer> {
    const { kind, custom } = this.#definition;
    const apiVersion = apiVersionOf(this.#definition);
    const type = custom ? '' : `"kind":"${kind}","apiVersion":"${apiVersion}",`;
    const opening = Buffer.from(`{"type":"ADDED","object":{${type}`);
    for (const { bytes, starts } of this.#items) {
      const pieces: Buffer[] = [];
      for (let record = 0; record + 1 < starts.length; record++) {
        const item = withoutComma(bytes.subarray((starts[record] ?? 0) + 1, starts[record + 1]));
        pieces.push(opening, item, CLOSING);
      }
      yield Buffer.concat(pieces);
    }
    if (!hasBookmark) return;
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#revision), annotations };
    yield Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`);
  }

  /** The bytes of items `from` to `to`, separated by commas. */
  *#slices(from: number, to: number): Generator<Buffer> {
    let first = 0;
    for (const { bytes, starts } of this.#items) {
      const end = first + starts.length - 1;
      if (end > from && first < to) {
        const slice = bytes.subarray(starts[Math.max(0, from - first)], starts[Math.min(end, to) - first]);
        yield end >= to ? withoutComma(slice) : slice;
      }
      first = end;
    }
  }
}

function withoutComma(bytes: Buffer): Buffer {
  return bytes.at(-1) === COMMA[0] ? bytes.subarray(0, -1) : bytes;
}

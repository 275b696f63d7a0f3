/**
 * The bytes of the high-rate source, all made before the first request: the items of a list, and rounds of MODIFIED
 * events in which only the digits of the resourceVersion are ever written again, in place.
 *
 * Revisions have ten digits from the first to the last, so nothing moves:
 *
 *   1000000000 + 1 … + pods        the listed pods; the list itself has the last of these
 *   1000000000 + pods + 1 …        the events, one after the other
 */

import { ResourceTable } from './resources.ts';
import type { ResourceDefinition } from './resources.ts';
import { seededRandom } from './random.ts';
import { sampleNamespace } from './load.ts';
import { sampleName, samplePod } from './sample-pod.ts';
import { StoredObject } from './stored-object.ts';

export const FIRST_REVISION: number = 1_000_000_000;
const BLOCK_BYTES = 1024 * 1024;
/** A round of events touches as many pods as fit into this. */
const ROUND_BYTES_MAX = 128 * 1024 * 1024;
const DIGITS = 10;
const ZERO = 48;
const NAME_DIGITS = 7;
const UID_LENGTH = 36;
/** One digit in the name of the namespace. */
const NAMESPACES = 10;
/** Divisible by all that repeats in sample pods, and enough to keep them different. */
const TEMPLATES = 800;
const REVISION_PREFIX = '"resourceVersion":"';
const LINE_START = '{"type":"MODIFIED","object":';
const METADATA = '"metadata":';
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');

const POD: ResourceDefinition = new ResourceTable().named('pods');

/** A megabyte of whole records, one after the other. */
export interface Block {
  readonly bytes: Buffer;
  /** Where each record begins, and at last where the block ends. */
  readonly starts: readonly number[];
  /** Where the digits of each record begin (events only). */
  readonly digits: readonly number[];
}

/** Stamps out pods: a copy of a template in which name, namespace, uid and revision are written over. */
class PodPress {
  readonly #pods: number;
  readonly #objectBytes: number;
  readonly #templates: Buffer[] = [];

  constructor(pods: number, objectBytes: number) {
    this.#pods = pods;
    this.#objectBytes = objectBytes;
  }

  key(index: number): string {
    return `${this.#namespace(index)}/${sampleName(index)}`;
  }

  /** The JSON of pod number `index`. */
  make(index: number): Buffer {
    const bytes = Buffer.from(this.#template(index % TEMPLATES));
    const namespace = this.#namespace(index);
    overwrite(bytes, '"name":"', sampleName(index).length, String(index).padStart(NAME_DIGITS, '0'));
    overwrite(bytes, '"namespace":"', namespace.length, namespace);
    overwrite(bytes, '"uid":"', UID_LENGTH, index.toString(16).padStart(12, '0'));
    writeDigits(bytes, revisionAt(bytes), index + 1);
    return bytes;
  }

  #namespace(index: number): string {
    return sampleNamespace(index, Math.min(NAMESPACES, this.#pods));
  }

  #template(number: number): Buffer {
    const known = this.#templates[number];
    if (known !== undefined) return known;
    // The sample counts seven digits for the resourceVersion; here there are three more.
    const bytes = this.#objectBytes - DIGITS + 7;
    const pod = samplePod({ index: number, namespace: sampleNamespace(0, 1), bytes });
    const made = StoredObject.encode(POD, pod, FIRST_REVISION).toBuffer();
    this.#templates[number] = made;
    return made;
  }
}

/** Writes over the end of the value, `valueLength` long, that follows the first `prefix`. */
function overwrite(bytes: Buffer, prefix: string, valueLength: number, end: string): void {
  bytes.write(end, bytes.indexOf(prefix) + prefix.length + valueLength - end.length, 'latin1');
}

function revisionAt(bytes: Buffer): number {
  return bytes.indexOf(REVISION_PREFIX) + REVISION_PREFIX.length;
}

/** Packs records into blocks. `digitsAt` says where in the record its digits are. */
class BlockBuilder {
  readonly blocks: Block[] = [];
  #records: Buffer[] = [];
  #digits: number[] = [];
  #bytes = 0;

  add(record: Buffer, digitsAt: number): void {
    if (this.#bytes > 0 && this.#bytes + record.length > BLOCK_BYTES) this.finish();
    this.#digits.push(this.#bytes + digitsAt);
    this.#records.push(record);
    this.#bytes += record.length;
  }

  finish(): Block[] {
    if (this.#records.length === 0) return this.blocks;
    const starts = [0];
    for (const record of this.#records) starts.push((starts.at(-1) ?? 0) + record.length);
    this.blocks.push({ bytes: Buffer.concat(this.#records), starts, digits: this.#digits });
    this.#records = [];
    this.#digits = [];
    this.#bytes = 0;
    return this.blocks;
  }
}

/** The items of the list in the order of their keys, each followed by a comma (the last by none). */
export function makeItems(pods: number, objectBytes: number): Block[] {
  const press = new PodPress(pods, objectBytes);
  const builder = new BlockBuilder();
  const keys = Array.from({ length: pods }, (_, index) => ({ index, key: press.key(index) }));
  keys.sort((one, other) => (one.key < other.key ? -1 : 1));
  for (const [position, { index }] of keys.entries()) {
    const pod = press.make(index);
    const pieces = [OPEN, pod.subarray(pod.indexOf(METADATA))];
    if (position < pods - 1) pieces.push(COMMA);
    builder.add(Buffer.concat(pieces), 0);
  }
  return builder.finish();
}

/**
 * One round of events: each of its pods once, in an order that jumps about. Framed as an HTTP chunk each, if wanted.
 * Whoever streams owns the round: it is written to on the way.
 */
export class EventRound {
  readonly blocks: readonly Block[];
  /** Events in a whole round. */
  readonly length: number;

  constructor(blocks: readonly Block[]) {
    this.blocks = blocks;
    this.length = blocks.reduce((sum, { digits }) => sum + digits.length, 0);
  }

  static make(pods: number, objectBytes: number, chunkPerEvent: boolean): EventRound {
    const press = new PodPress(pods, objectBytes);
    const builder = new BlockBuilder();
    const count = Math.min(pods, Math.max(1, Math.floor(ROUND_BYTES_MAX / objectBytes)));
    for (const index of shuffled(count)) {
      const pod = press.make(index);
      const lineBytes = LINE_START.length + pod.length + 2;
      const head = chunkPerEvent ? `${lineBytes.toString(16)}\r\n${LINE_START}` : LINE_START;
      const record = Buffer.concat([Buffer.from(head), pod, Buffer.from(chunkPerEvent ? '}\n\r\n' : '}\n')]);
      builder.add(record, head.length + revisionAt(pod));
    }
    return new EventRound(builder.finish());
  }

  /**
   * The bytes of events `from` up to at most `to`, within one block, with their revisions written.
   * Event 0 has revision `firstRevision`.
   */
  slice(from: number, to: number, firstRevision: number): { bytes: Buffer; next: number } {
    let position = from % this.length;
    let block = this.blocks[0];
    for (const candidate of this.blocks) {
      block = candidate;
      if (position < candidate.digits.length) break;
      position -= candidate.digits.length;
    }
    if (block === undefined) return { bytes: Buffer.alloc(0), next: from };
    const end = Math.min(block.digits.length, position + to - from);
    for (let record = position; record < end; record++) {
      writeDigits(
        block.bytes,
        block.digits[record] ?? 0,
        firstRevision - FIRST_REVISION + from + record - position,
      );
    }
    const bytes = block.bytes.subarray(block.starts[position], block.starts[end]);
    return { bytes, next: from + end - position };
  }
}

/** Writes `1` and nine digits: the revision FIRST_REVISION + offset, with 32-bit arithmetic. */
function writeDigits(target: Buffer, at: number, offset: number): void {
  let rest = offset | 0;
  for (let digit = DIGITS - 1; digit > 0; digit--) {
    const quotient = (rest / 10) | 0;
    target[at + digit] = ZERO + rest - quotient * 10;
    rest = quotient;
  }
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

/**
 * The watch of pods in protobuf, as a real apiserver sends it (`application/vnd.kubernetes.protobuf;stream=watch`): frames
 * with their length before them. Only the revision of an event is overwritten, since times have no fixed place here.
 *
 *   frame     length (4 bytes, big-endian), WatchEvent { 1: type, 2: RawExtension { 1: object } }
 *   object    "k8s\0", Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: the Pod }
 *
 * The pods are those of the JSON, converted by client-go's own types before the first request.
 */
import { execFileSync } from 'node:child_process';
import { DIGITS, FIRST_REVISION, ObjectTemplates } from './object-templates.ts';
import { EventRound } from './pods.ts';
import type { RoundOptions, SourceEvent } from './pods.ts';

const LENGTH_BYTES = 4;
const MAGIC = Buffer.from('k8s\0');
const BYTES_WIRE_TYPE = 2;
const PIECE_BYTES = 1024 * 1024;
/** Objects at a time: their JSON and their protobuf are in memory besides those that are kept. */
const BATCH_OBJECTS = 5000;
const BATCH_BYTES_MAX = 2 ** 30;
/** Numbers of fields. */
const OBJECT_META = 1;
const RESOURCE_VERSION = 6;
const ANNOTATIONS = 12;

export class ProtobufPods {
  readonly #pods: readonly Buffer[];
  readonly #revision: number;

  /** @param program bench/peers/client-go @param revision of the list */
  constructor(program: string, options: RoundOptions, revision: number) {
    const templates = new ObjectTemplates(options);
    const pods: Buffer[] = [];
    while (pods.length < options.pods) {
      const count = Math.min(BATCH_OBJECTS, options.pods - pods.length);
      const objects = Array.from({ length: count }, (_, index) => templates.make(pods.length + index));
      pods.push(...converted(program, objects));
    }
    this.#pods = pods;
    this.#revision = revision;
  }

  round(options: RoundOptions): EventRound {
    return EventRound.make(options, (index) => this.#event(index));
  }

  /** An ADDED event for each object, and then the bookmark that ends them. */
  *initialEvents(hasBookmark: boolean): Generator<Buffer> {
    let piece: Buffer[] = [];
    let bytes = 0;
    for (const pod of this.#pods) {
      const frame = frameOf('ADDED', pod);
      piece.push(frame);
      bytes += frame.length;
      if (bytes < PIECE_BYTES) continue;
      yield Buffer.concat(piece);
      piece = [];
      bytes = 0;
    }
    if (hasBookmark) piece.push(frameOf('BOOKMARK', bookmarkPod(this.#revision)));
    yield Buffer.concat(piece);
  }

  #event(index: number): SourceEvent {
    const bytes = frameOf('MODIFIED', this.#pods[index] ?? Buffer.alloc(0));
    const mark = field(RESOURCE_VERSION, Buffer.from(String(FIRST_REVISION + index + 1)));
    const at = bytes.indexOf(mark);
    if (at < 0) throw new Error(`pod ${index} has no resourceVersion in its protobuf`);
    return { bytes, places: { revisions: [at + mark.length - DIGITS], times: [] } };
  }
}

/** Runs the program on the objects' JSON; it answers with lengths and messages. */
function converted(program: string, objects: readonly Buffer[]): Buffer[] {
  const output = execFileSync(program, ['frames'], {
    input: Buffer.concat(objects),
    // Standard error becomes part of the error.
    stdio: 'pipe',
    maxBuffer: BATCH_BYTES_MAX,
  });
  const messages: Buffer[] = [];
  for (let at = 0; at < output.length;) {
    const start = at + LENGTH_BYTES;
    at = start + output.readUInt32BE(at);
    messages.push(output.subarray(start, at));
  }
  if (messages.length === objects.length) return messages;
  throw new Error(`${program} gave ${messages.length} messages for ${objects.length} objects`);
}

function bookmarkPod(revision: number): Buffer {
  const initialEnd = [field(1, Buffer.from('k8s.io/initial-events-end')), field(2, Buffer.from('true'))];
  const version = field(RESOURCE_VERSION, Buffer.from(String(revision)));
  return field(OBJECT_META, version, field(ANNOTATIONS, ...initialEnd));
}

function frameOf(type: string, pod: Buffer): Buffer {
  const typeMeta = field(1, field(1, Buffer.from('v1')), field(2, Buffer.from('Pod')));
  const object = field(1, MAGIC, typeMeta, field(2, pod));
  const event = Buffer.concat([field(1, Buffer.from(type)), field(2, object)]);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** A field of bytes, a string, or a message. */
function field(number: number, ...pieces: readonly Buffer[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return Buffer.concat([Buffer.from([(number << 3) | BYTES_WIRE_TYPE, ...varint(length)]), ...pieces]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** Both codecs return exactly what was received, and msgpack's table contains shapes, not data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../../src/base/clock.ts';
import { RECORDS_MAX, MsgpackEncoder, encodeStructures } from '../../../src/indexer/msgpack-encoder.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import { MsgpackDecoder } from '../../../src/shared/record/msgpack.ts';
import { NotificationFlag } from '../../../src/shared/record/notification.ts';
import { podObject } from '../kube/json/objects.ts';
import type { Json } from '../kube/json/random-json.ts';
import { pick, seededRandom, wholeNumber } from '../shared/ring/random.ts';
import { ShardTwin } from './shard-twin.ts';

const FIELD_KEYS = 'name image port a B9 $x under_score toJSON constructor hasOwnProperty'.split(' ');
const ODD_KEYS = 'valueOf length then __keys__ __defineGetter__ 1 10 2 007 f:spec . ü k8s.io/x'.split(' ');
const KEYS = ['', 'k:{"uid":"x"}', 'x'.repeat(70), ...FIELD_KEYS, ...ODD_KEYS] as const;
const POWERS = [5, 6, 7, 8, 15, 16, 31, 32, 52].map((bits) => 2 ** bits);
const FRACTIONS = [0, 0.1, -0.5, 1e-7, 1234567.5, 5e-324] as const;
const INTEGERS = POWERS.flatMap((power) => [power - 1, power, power + 1, -power + 1, -power, -power - 1]);
const NUMBERS = [...FRACTIONS, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, ...INTEGERS] as const;
/** Numbers that msgpackr or JavaScript cannot keep; such objects stay JSON. */
const UNSAFE_NUMBERS = [
  '-0',
  '9007199254740992',
  '-12345678901234567890',
  '1e400',
  '1e21',
  '1.5e300',
] as const;
const LENGTHS = [0, 1, 3, 4, 15, 16, 31, 32, 33, 63, 64, 65, 139, 140, 255, 256, 70_000] as const;
const CHARACTERS = ['a', 'é', '€', '😀', '"', '\\', '\n', '\u0000'] as const;

/** Writer of JSON text with numbers and keys that no JavaScript value would produce. */
class Writer {
  readonly #random: Random;
  /** Whether the object has a part that must stay JSON. */
  hasTrap = false;

  constructor(random: Random) {
    this.#random = random;
  }

  object(depth: number): string {
    const keys = new Set<string>();
    for (let count = wholeNumber(this.#random, 0, 6); count > 0; count--) keys.add(pick(this.#random, KEYS));
    const members = [...keys].map((key) => `${JSON.stringify(key)}:${this.value(depth - 1)}`);
    if (this.#random() < 0.01) {
      this.hasTrap = true;
      members.push(this.#random() < 0.5 ? '"__proto__":{"a":1}' : '"\\u005f_proto__":[]');
    }
    return `{${members.join(',')}}`;
  }

  value(depth: number): string {
    const kind = wholeNumber(this.#random, 0, depth > 0 ? 9 : 6);
    if (kind === 0) return pick(this.#random, ['null', 'true', 'false']);
    if (kind <= 2) return this.#number();
    if (kind <= 6) return this.#string();
    if (kind > 7) return this.object(depth);
    return `[${Array.from({ length: wholeNumber(this.#random, 0, 20) }, () => this.value(depth - 2)).join(',')}]`;
  }

  #number(): string {
    if (this.#random() >= 0.01) return String(pick(this.#random, NUMBERS));
    this.hasTrap = true;
    return pick(this.#random, UNSAFE_NUMBERS);
  }

  #string(): string {
    if (this.#random() < 0.005) {
      this.hasTrap = true;
      return pick(this.#random, ['"\\ud800"', '"x\\uDFFF"']);
    }
    const length = this.#random() < 0.01 ? pick(this.#random, LENGTHS) : wholeNumber(this.#random, 0, 40);
    const unit = this.#random() < 0.7 ? 'abcdefg' : pick(this.#random, CHARACTERS);
    return JSON.stringify(unit.repeat(length));
  }
}

/** Returns a pod with random parts, mostly in the shapes of all pods. */
function randomPod(random: Random, index: number): { json: string; hasTrap: boolean } {
  const writer = new Writer(random);
  const pod = JSON.stringify(podObject(index));
  const json = `${pod.slice(0, -1)},"extra":${writer.value(4)},"status2":${writer.object(3)}}`;
  return { json, hasTrap: writer.hasTrap };
}

test("a shard's output is the result of JSON.parse on the wire's bytes, key order included, in both codecs", async () => {
  for (const codec of ['json', 'msgpack'] as const) {
    const twin = await ShardTwin.attached({ codec }, { outBytes: 32 * 1024, logBytes: 4 * 2 ** 20 });
    const random = seededRandom(7);
    let packed = 0;
    let traps = 0;
    for (let index = 0; index < 1500; index++) {
      const { json, hasTrap } = randomPod(random, index);
      const name = `pod-${index % 10}`;
      twin.deliver({ kind: DeltaKind.Modified, name, resourceVersion: String(index), json });
      const { bytes, flags } = twin.main.last;
      const isPacked = (flags & NotificationFlag.Msgpack) !== 0;
      const decoded: unknown = isPacked
        ? twin.main.decoder.decode(bytes, 0, bytes.length)
        : JSON.parse(bytes.toString());
      const expected: unknown = JSON.parse(json);
      assert.deepStrictEqual(decoded, expected, json);
      assert.equal(JSON.stringify(decoded), JSON.stringify(expected));
      if (hasTrap) assert.equal(isPacked, false, `a trap must stay JSON: ${json}`);
      else assert.equal(isPacked, codec === 'msgpack', json);
      packed += isPacked ? 1 : 0;
      traps += hasTrap ? 1 : 0;
    }
    if (codec === 'msgpack') assert.ok(packed > 1000 && traps > 100, `${packed} packed, ${traps} with traps`);
  }
});

test('structures make the objects of pods much smaller than maps', () => {
  const encoder = new MsgpackEncoder(1000);
  const decoder = new MsgpackDecoder();
  const sizes: number[] = [];
  for (let index = 0; index < 3; index++) {
    const json = JSON.stringify(podObject(index));
    const packed = encoder.encode(podObject(index), json);
    assert.ok(packed);
    sizes.push(packed.length / json.length);
    const { first, structures } = encoder.takeNewStructures();
    for (const bytes of encodeStructures(first, structures, 200)) {
      assert.ok(bytes.length <= 200 || structures.some((structure) => structure.join('').length > 150));
      decoder.update(bytes);
    }
    assert.deepEqual(decoder.decode(packed, 0, packed.length), podObject(index));
  }
  const [first = 0, , third = 0] = sizes;
  assert.ok(third < 0.8 * first, `${sizes.join(' ')} of the JSON`);
});

test('labels, annotations and the trees of managedFields do not fill the table', () => {
  const encoder = new MsgpackEncoder(1000);
  let structures = 0;
  for (let index = 0; index < 500; index++) {
    const labels: { [key: string]: Json } = { [`label-${index}`]: '1', [`team${index}/x`]: '2' };
    // Plain words as in real labels: each combination occurs once.
    const words = { [`w${index}`]: 'x', [`v${index * 7}`]: 'y' };
    const fieldsV1 = { 'f:metadata': { [`f:name${index}`]: {}, '.': {} } };
    const object = podObject(index, {
      labels,
      annotations: words,
      managedFields: [{ manager: 'm', fieldsV1 }],
    });
    assert.ok(encoder.encode(object, JSON.stringify(object)));
    structures += encoder.takeNewStructures().structures.length;
  }
  assert.ok(structures > 3 && structures < 20, `${structures} structures`);
});

/** Packs like a shard and decodes like the main thread. */
class Codec {
  readonly encoder: MsgpackEncoder = new MsgpackEncoder(1000);
  readonly decoder: MsgpackDecoder = new MsgpackDecoder();
  structures = 0;

  /** Returns the object after both steps; it must be packed. */
  pass(object: object): unknown {
    const packed = this.encoder.encode(object, JSON.stringify(object));
    assert.ok(packed);
    const { first, structures } = this.encoder.takeNewStructures();
    assert.equal(first, this.structures);
    this.structures += structures.length;
    for (const bytes of encodeStructures(first, structures, 500)) this.decoder.update(bytes);
    return this.decoder.decode(packed, 0, packed.length);
  }
}

test('keys that msgpackr uses internally are data', () => {
  const codec = new Codec();
  for (const tail of ['__keys__', 'isShared', 'highByte', 'read', 'sharedLength', 'transitions']) {
    // The longer shape becomes a record first, then its beginning, and the other way round.
    for (const shapes of [['name'], ['size', tail, 'z'], ['size', tail], ['size'], ['name', tail]]) {
      for (let count = 0; count < 4; count++) {
        const object = { inner: Object.fromEntries(shapes.map((key) => [key, count])) };
        assert.deepEqual(codec.pass(object), object);
      }
    }
  }
});

test('shapes that do not occur again make room for those that do', () => {
  const codec = new Codec();
  for (let round = 0; round < 20_000; round++) codec.pass({ [`once${round}`]: 1, metadata: { name: 'x' } });
  assert.equal(codec.structures, 1);
  for (let round = 0; round < 3; round++) codec.pass({ metadata: { name: 'x' }, late: { arrival: 1 } });
  assert.equal(codec.structures, 3);
});

test('a full table still packs every object, and its shapes stay records', () => {
  const codec = new Codec();
  for (let round = 0; round < RECORDS_MAX + 500; round++) {
    const shape = { [`a${round}`]: 1, [`b${round}`]: { [`c${round}`]: [round] } };
    // Twice in one object, so admitted at once.
    const object = { one: shape, two: shape, hot: { x: 1, y: 2 } };
    assert.deepEqual(codec.pass(object), object);
  }
  assert.equal(codec.structures, RECORDS_MAX);
  for (let round = 0; round < 20_000; round++) codec.pass({ [`n${round}`]: 1 });
  const object = { hot: { x: 1, y: 2 } };
  assert.deepEqual(codec.pass(object), object);
  const packed = codec.encoder.encode(object, JSON.stringify(object));
  assert.ok(packed && !packed.includes('x'), 'its keys do not travel');
});

test('an object that is nested too deep for the stack stays JSON, and the next one is packed', async () => {
  const twin = await ShardTwin.attached({ codec: 'msgpack' }, { logBytes: 2 ** 20 });
  for (const depth of [100, 300, 20_000]) {
    const json = `{"metadata":{"name":"a"},"spec":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    twin.deliver({ kind: DeltaKind.Added, name: 'a', resourceVersion: String(depth), json });
    assert.equal((twin.main.last.flags & NotificationFlag.Msgpack) !== 0, depth === 100);
  }
});

test('a decoder rejects bytes that are not one whole object', () => {
  const decoder = new MsgpackDecoder();
  assert.throws(() => decoder.decode(Buffer.from([0x81, 0xa1]), 0, 2), {
    code: 'ERR_KUBELOOM_MALFORMED_OBJECT',
  });
});

/**
 * Members of random updates: states that differ in one part, with odd spaces, escaped and duplicate keys, and damaged bytes,
 * stored as received, as msgpack, packed, or in another thread's memory. JSON.parse of the whole object is the judge.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import type { EntryOwner } from '../../../../src/replica/store/entry-owner.ts';
import type { MsgpackDecoder } from '../../../../src/shared/record/msgpack.ts';
import { specChanged } from '../../../../src/controller/predicates.ts';
import { randomJson, writeJson } from '../../kube/json/random-json.ts';
import type { WriteStyle } from '../../kube/json/random-json.ts';
import { Seeded } from '../../kube/json/seeded.ts';
import {
  ShardCodec,
  borrowed,
  extractedText,
  factsOf,
  identityOf,
  newEntry,
  newOwner,
  packRounds,
} from './objects.ts';
import type { ObjectSpec } from './objects.ts';

const STATES = 100_000;
const STATES_OF_OBJECT = 50;
const NAMES = ['spec', 'status', 'data', 'metadata'] as const;
const SPEC: ObjectSpec = { name: 'web-0', version: 1 };

/** The text of an object by its members, in order. */
type Members = { readonly name: string; readonly text: string }[];

/** The last member with each name, as text; undefined when the object is no JSON. */
type Expected = ReadonlyMap<string, string> | undefined;

interface State {
  readonly entry: Entry;
  readonly expected: Expected;
  readonly isMsgpack: boolean;
}

/** The states of one object, each made from the state before. */
class RandomObject {
  readonly #random: Seeded;
  readonly #style: WriteStyle;
  readonly #owner: EntryOwner;
  readonly #rows = new Map<number, Buffer>();
  readonly #isForeign: boolean;
  /** Undefined where all states stay JSON. */
  readonly #codec: ShardCodec | undefined;
  readonly #facts = factsOf(identityOf(SPEC), extractedText(SPEC));
  #members: Members;
  #version = 0;

  constructor(random: Seeded) {
    this.#random = random;
    this.#style = { spaces: random.pick([0, 0, 0.1]), escapes: random.pick([0, 0, 0.1]) };
    this.#isForeign = random.chance(0.2);
    this.#codec = random.chance(0.3) ? new ShardCodec() : undefined;
    const read = (row: number): { bytes: Buffer; start: number; length: number } => {
      const bytes = this.#rows.get(row) ?? assert.fail(`row ${row}`);
      return { bytes, start: 3, length: bytes.length - 4 };
    };
    const packing = { totalBytesMin: 0, wastedBytesMin: 0 };
    const cacheBytes = random.pick([0, 1000, 2 ** 20]);
    this.#owner = newOwner({ packing, cacheBytes, ...(this.#isForeign ? { foreign: { read } } : {}) });
    this.#members = ['metadata', ...NAMES.slice(0, 3)].map((key) => this.#member(key));
  }

  next(): State {
    const random = this.#random;
    const members = this.#members;
    const at = random.below(members.length);
    const { name = 'spec' } = members[at] ?? {};
    const change = random.pick(['value', 'value', 'value', 'less', 'more', 'nothing']);
    if (change === 'value') members[at] = this.#member(name);
    else if (change === 'less') members.splice(at, 1);
    else if (change === 'more') members.splice(at, 0, this.#member(random.pick(NAMES)));
    const bytes = Buffer.from(`{${members.map(({ text }) => text).join(',')}}`);
    if (random.chance(0.1)) bytes[random.below(bytes.length)] = random.pick([...Buffer.from('"\\{}[],: 0a')]);
    const json = bytes.toString();
    const expected = expectedOf(json);
    // What the shard cannot parse or encode stays JSON.
    const encoded = expected && this.#codec?.encode(JSON.parse(json) as object, json);
    const entry = this.#store(encoded?.bytes ?? bytes, encoded?.decoder);
    const state = { entry, expected, isMsgpack: encoded !== undefined };
    if (!this.#isForeign && random.chance(0.05)) packRounds(this.#owner, 2);
    return state;
  }

  #member(name: string): Members[number] {
    const random = this.#random;
    const style = this.#style;
    // An object in msgpack is parsed as a whole, which checks the identity in its metadata.
    const isWrapped = random.chance(0.5) || (name === 'metadata' && this.#codec);
    const value = isWrapped ? { value: randomJson(random, 3) } : randomJson(random, 3);
    const space = random.chance(style.spaces) ? ' ' : '';
    return { name, text: `${writeJson(name, random, style)}${space}:${writeJson(value, random, style)}` };
  }

  #store(bytes: Buffer, decoder?: MsgpackDecoder): Entry {
    const spec = { ...SPEC, version: ++this.#version };
    const { table } = this.#owner;
    if (this.#isForeign) {
      this.#rows.set(this.#version, Buffer.concat([Buffer.from('}"\\'), bytes, Buffer.from('"')]));
      table.addAt(this.#version, this.#facts, this.#version, 0, decoder);
      table.setLength(this.#version, bytes.length);
    }
    const entry = this.#isForeign
      ? table.open(this.#version)
      : newEntry(this.#owner, spec, { bytes, facts: this.#facts, decoder });
    entry.addReference();
    return entry;
  }
}

/** Returns the texts of the members of an object without nested duplicate keys; keys are unescaped. */
function expectedOf(text: string): Expected {
  try {
    const whole = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return new Map(Object.entries(whole).map(([name, value]) => [name, JSON.stringify(value)]));
  } catch {
    return undefined;
  }
}

/** Reads a member as a handler does; returns its value, and checks it. */
function readOf({ entry, expected }: State, name: string): unknown {
  let value: unknown;
  try {
    value = entry.member(name);
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'ERR_KUBELOOM_MALFORMED_OBJECT');
    assert.equal(expected, undefined, entry.bytes().toString());
    return undefined;
  }
  // A member that is found before the damage is readable.
  if (expected) assert.equal(JSON.stringify(value), expected.get(name), entry.bytes().toString());
  return value;
}

/** Calls as a handler with both states is called, and reads members in a random order. */
function update(random: Seeded, before: State, after: State): void {
  const reads = random.shuffle(
    [before, after].flatMap((state) =>
      NAMES.filter(() => random.chance(0.4)).map((name) => ({ state, name })),
    ),
  );
  const values = new Map(reads.map(({ state, name }) => [`${state === after} ${name}`, readOf(state, name)]));
  for (const name of NAMES) {
    const [old, current] = [values.get(`false ${name}`), values.get(`true ${name}`)];
    if (old === undefined || current === undefined) continue;
    // Equal bytes are equal JSON; the reverse is not asked for. States in msgpack have values of their own.
    const isJson = !before.isMsgpack && !after.isMsgpack;
    if (isJson && rawOf(before, name) === rawOf(after, name)) assert.equal(old, current, name);
  }
  const change = { type: 'update', previous: before.entry, object: after.entry } as const;
  if (before.expected && after.expected && !specChanged(change))
    assert.deepEqual(specOf(before), specOf(after), 'whatever the order of keys is in msgpack');
}

function specOf({ expected }: State): unknown {
  return JSON.parse(expected?.get('spec') ?? 'null');
}

/** Returns the bytes of a member's value, found by searching: a suffix of the object's text that parses. */
function rawOf({ entry, expected }: State, name: string): string | symbol {
  const text = entry.bytes().toString();
  const key = text.lastIndexOf(`"${name}":`);
  const value = expected?.get(name);
  if (key < 0 || value === undefined) return Symbol(name);
  const raw = text.slice(key + name.length + 3);
  return raw.startsWith(value) ? value : Symbol(name);
}

describe('a member of an update', () => {
  it(`C330 is that of JSON.parse, and C331 is shared, for ${STATES.toLocaleString('en-US')} random states in any order of reads`, () => {
    const random = new Seeded(33);
    for (let object = 0; object < STATES / STATES_OF_OBJECT; object++) {
      const states = new RandomObject(random);
      let before = states.next();
      for (let count = 1; count < STATES_OF_OBJECT; count++) {
        const after = states.next();
        after.entry.follow(before.entry);
        borrowed(before.entry, '', () => borrowed(after.entry, '', () => update(random, before, after)));
        before.entry.dropReference();
        before = after;
      }
      before.entry.dropReference();
    }
  });
});

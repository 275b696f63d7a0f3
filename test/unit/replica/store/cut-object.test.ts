/** Objects whose managedFields are parsed when they are read equal the objects that JSON.parse returns. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect, isDeepStrictEqual } from 'node:util';
import { parseObject } from '../../../../src/replica/store/cut-object.ts';
import { randomJson, writeJson } from '../../kube/json/random-json.ts';
import { Seeded } from '../../kube/json/seeded.ts';
import { LOOKS, debuggerLook } from './looks.ts';
import type { Pod } from './looks.ts';

const IS_NODE = process.versions['bun'] === undefined && process.versions['deno'] === undefined;

const MANAGED = Array.from({ length: 8 }, (_, at) => ({
  manager: `manager-${at}`,
  fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:äpp]}': {} } }, 'f:status': { 'f:phase': {} } },
}));
const LONG = 'x'.repeat(2500);
const TEXT = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-0',
    labels: { app: 'wéb' },
    managedFields: MANAGED,
    uid: 'u',
    resourceVersion: '1',
    annotations: { LONG },
  },
  spec: { nodeName: 'node-1', containers: [{ image: 'a' }] },
  status: { phase: 'Running' },
});
const malformed = (): Error => new TypeError('managedFields are malformed');

function parsed(text: string): unknown {
  const bytes = Buffer.from(` ${text} `);
  return parseObject(bytes, 1, bytes.length - 1, malformed);
}

function cut(): Pod {
  return parsed(TEXT) as Pod;
}

function plain(): Pod {
  return JSON.parse(TEXT) as Pod;
}

describe('managedFields that are parsed when they are read', () => {
  for (const [name, look] of Object.entries({ ...LOOKS, ...(IS_NODE && { 'a debugger': debuggerLook }) })) {
    test(`C330 look like those that JSON.parse returns: ${name}`, () => {
      const [expected, seen] = [look(plain(), plain()), look(cut(), plain())];
      assert.ok(isDeepStrictEqual(seen, expected), inspect(seen));
      assert.ok(isDeepStrictEqual(expected, seen), inspect(seen));
    });
  }

  test('differ from a plain object in two ways: they are an accessor, and metadata has hidden keys', () => {
    const { metadata } = cut();
    assert.equal(typeof Object.getOwnPropertyDescriptor(metadata, 'managedFields')?.get, 'function');
    const hidden = Reflect.ownKeys(metadata).filter((key) => typeof key === 'symbol');
    assert.equal(hidden.length, 2);
    assert.ok(hidden.every((key) => !Object.getOwnPropertyDescriptor(metadata, key)?.enumerable));
  });

  test('drop their text when they are written', () => {
    const { metadata } = cut();
    metadata.managedFields = [];
    const hidden = Reflect.ownKeys(metadata).filter((key) => typeof key === 'symbol');
    assert.deepEqual(hidden, [inspect.custom]);
  });

  test('so what prints properties instead of values prints an accessor, and a sealed object refuses to be written', () => {
    const { metadata } = cut();
    if (IS_NODE)
      assert.match(inspect(metadata, { customInspect: false }), /managedFields: \[Getter\/Setter\]/);
    Object.seal(metadata);
    assert.throws(() => (metadata.managedFields = 1), TypeError);
  });

  test('print in a copy that has the hidden members among its own', () => {
    const { metadata } = cut();
    const copy = Object.fromEntries(
      Reflect.ownKeys(metadata).map((key) => [key, Reflect.get(metadata, key)]),
    );
    assert.match(inspect(copy), /managedFields: \[/);
  });

  test('are not parsed before, and throw the error of the object when their text is not JSON', () => {
    const text = TEXT.replace('"manager":"manager-1"', '"manager" "manager-1"');
    const pod = parsed(text) as Pod;
    assert.equal(pod.spec.nodeName, 'node-1');
    assert.throws(() => pod.metadata.managedFields, { message: 'managedFields are malformed' });
    assert.throws(() => pod.metadata.managedFields, { message: 'managedFields are malformed' });
  });

  test('C330 are those of JSON.parse, whatever the order of members, repeated keys, escapes and ends of the text', () => {
    const random = new Seeded(41);
    const managed = JSON.stringify(MANAGED);
    for (let count = 0; count < 3000; count++) {
      const any = (): string => writeJson(randomJson(random, 3), random, { spaces: 0.1, escapes: 0.1 });
      const members = (own: readonly string[]): string =>
        `{${random.shuffle([...own, ...Array.from({ length: random.below(4) }, () => `"${random.pick(KEYS)}":${any()}`)]).join(',')}}`;
      const ownOf = (chance: number, text: string): readonly string[] =>
        random.chance(chance) ? [text] : [];
      const metadata = members([
        ...ownOf(0.9, `"managedFields":${random.chance(0.9) ? managed : any()}`),
        ...ownOf(0.1, `"managedFields":${managed}`),
        ...ownOf(0.1, String.raw`"managed\u0046ields":${managed}`),
        `"annotations":{"long":"${LONG}"}`,
      ]);
      let text = members([`"metadata":${metadata}`, ...ownOf(0.1, `"metadata":${any()}`), `"spec":${any()}`]);
      if (random.chance(0.2)) text = text.slice(0, random.below(text.length));
      if (random.chance(0.2)) {
        const at = random.below(text.length);
        text =
          text.slice(0, at) +
          random.pick(['"', '}', ']', ',', '{', '\\', '0']) +
          text.slice(at + random.below(2));
      }
      assert.deepEqual(
        outcome(() => parsed(text)),
        outcome(() => JSON.parse(text) as unknown),
        text,
      );
    }
  });
});

const KEYS = ['name', 'uid', '1', '__proto__', 'é', 'metadata', 'managedFields', 'status'];

/** Returns the text of what is read, which has the order of keys; undefined if it cannot be read as a whole. */
function outcome(read: () => unknown): string | undefined {
  try {
    return JSON.stringify(read());
  } catch {
    return undefined;
  }
}

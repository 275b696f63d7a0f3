/** Objects whose managedFields are parsed when they are read equal the objects that JSON.parse returns. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { format, inspect, isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { Packr } from 'msgpackr';
import { deepFreeze } from '../../../../src/base/deep-freeze.ts';
import { parseObject } from '../../../../src/replica/store/cut-object.ts';
import { randomJson, writeJson } from '../../kube/json/random-json.ts';
import { Seeded } from '../../kube/json/seeded.ts';

interface Pod {
  readonly metadata: { labels?: unknown; managedFields?: unknown };
  readonly spec: { readonly nodeName: string };
}

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
    annotations: { LONG },
  },
  spec: { nodeName: 'node-1', containers: [{ image: 'a' }] },
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

const packr = new Packr();

/** Ways in which programs look at an object; each returns what it sees. */
const LOOKS: Readonly<Record<string, (pod: Pod) => unknown>> = {
  'the object': (pod) => pod,
  'JSON.stringify': (pod) => JSON.stringify(pod),
  'JSON.stringify with indentation': (pod) => JSON.stringify(pod, null, 2),
  structuredClone: (pod) => structuredClone(pod),
  postMessage: (pod) => {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(pod);
    const { message } = receiveMessageOnPort(port2) as { message: unknown };
    port1.close();
    return message;
  },
  'v8.serialize': (pod) => deserialize(serialize(pod)) as unknown,
  msgpackr: (pod) => packr.unpack(packr.pack(pod)) as unknown,
  spread: ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata } }),
  'Object.assign': ({ metadata }) => Object.assign({}, metadata),
  'Object.keys': ({ metadata }) => Object.keys(metadata).join(),
  'Object.entries': ({ metadata }) => Object.fromEntries(Object.entries(metadata)),
  'for in': ({ metadata }) => {
    const seen: Record<string, unknown> = {};
    for (const key in metadata) seen[key] = Reflect.get(metadata, key);
    return seen;
  },
  'in and hasOwn': ({ metadata }) => ['managedFields' in metadata, Object.hasOwn(metadata, 'managedFields')],
  'rest without managedFields': ({ metadata: { managedFields: _dropped, ...rest } }) => rest,
  prototype: ({ metadata }) => Object.getPrototypeOf(metadata) === Object.prototype,
  identity: ({ metadata }) => metadata.managedFields === metadata.managedFields,
  'a frozen object': (pod) => deepFreeze(pod),
  'a frozen object that is written': ({ metadata }) => {
    Object.freeze(metadata);
    assert.throws(() => (metadata.managedFields = 1), TypeError);
    return metadata.managedFields;
  },
  'an object that inherits': ({ metadata }) => (Object.create(metadata) as Pod['metadata']).managedFields,
  'a written managedFields': (pod) => {
    pod.metadata.managedFields = [];
    return pod;
  },
  'a deleted managedFields': (pod) => {
    delete pod.metadata.managedFields;
    return [pod, 'managedFields' in pod.metadata];
  },
  'a written label': (pod) => {
    pod.metadata.labels = { app: 'db' };
    return pod;
  },
  inspect: (pod) => inspect(pod),
  'inspect to any depth': (pod) => inspect(pod, { depth: Infinity }),
  'inspect in another object': (pod) => inspect({ pod, metadata: pod.metadata }, { depth: 3 }),
  'console.log': (pod) => format('%o %j', pod.spec, pod),
};

describe('managedFields that are parsed when they are read', () => {
  for (const [look, see] of Object.entries(LOOKS)) {
    test(`C330 look like those that JSON.parse returns: ${look}`, () => {
      const [expected, seen] = [see(plain()), see(cut())];
      assert.ok(isDeepStrictEqual(seen, expected), inspect(seen));
      assert.ok(isDeepStrictEqual(expected, seen), inspect(seen));
    });
  }

  test('are an accessor and a hidden key: the two differences from a plain object', () => {
    const { metadata } = cut();
    assert.equal(typeof Object.getOwnPropertyDescriptor(metadata, 'managedFields')?.get, 'function');
    assert.deepEqual(
      Reflect.ownKeys(metadata).filter((key) => typeof key === 'symbol'),
      [inspect.custom],
    );
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

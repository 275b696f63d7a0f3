/**
 * Ways in which programs look at an object: the language, Node, libraries, matchers of test runners, and what prints. A look
 * receives the object, which it may change, and the same object from JSON.parse. It returns what it sees.
 */
import assert from 'node:assert/strict';
import legacyAssert from 'node:assert';
import { Console } from 'node:console';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { format, inspect, isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import {
  JEST_MATCHERS_OBJECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  chai,
} from '@vitest/expect';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import equal from 'fast-deep-equal';
import jsonPatch from 'fast-json-patch';
import { produce } from 'immer';
import lodash from 'lodash';
import { Packr } from 'msgpackr';
import rfdc from 'rfdc';
import { deepFreeze } from '../../../../src/base/deep-freeze.ts';

export interface Pod {
  readonly metadata: { resourceVersion?: string; labels: Record<string, string>; managedFields?: unknown };
  spec: { nodeName: string; tolerations?: unknown[]; readonly containers: { image: string }[] };
  readonly status: { phase: string };
}

export type Look = (pod: Pod, plain: Pod) => unknown;
type Looks = Readonly<Record<string, Look>>;

const LANGUAGE: Looks = {
  'the object': (pod) => pod,
  'JSON.stringify': (pod) => JSON.stringify(pod),
  'JSON.stringify with indentation': (pod) => JSON.stringify(pod, null, 2),
  'JSON.stringify with a replacer': (pod) => {
    const seen: unknown[] = [];
    const text = JSON.stringify(pod, (key, value: unknown) => (seen.push(key), key === 'time' ? '' : value));
    return [text, seen, JSON.stringify(pod, ['metadata', 'managedFields', 'manager'])];
  },
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
  'prototype and constructor': ({ metadata }) => [
    Object.getPrototypeOf(metadata) === Object.prototype,
    metadata.constructor === Object,
    metadata instanceof Object,
  ],
  identity: ({ metadata }) => metadata.managedFields === metadata.managedFields,
  'an object that inherits': ({ metadata }) => (Object.create(metadata) as Pod['metadata']).managedFields,
  'a proxy': ({ metadata }) => new Proxy(metadata, { get: Reflect.get }).managedFields,
  'a proxy of every object': (pod) => JSON.stringify(observed(pod)),
  'a copy of the properties': ({ metadata }) =>
    Object.create(Object.prototype, Object.getOwnPropertyDescriptors(metadata)) as unknown,
};

const WRITES: Looks = {
  'a written managedFields': (pod) => {
    pod.metadata.managedFields = [];
    return pod;
  },
  'a managedFields written through a proxy': (pod) => {
    observed(pod).metadata.managedFields = [];
    return pod;
  },
  'a managedFields written into an object that inherits': (pod) => {
    const child = Object.create(pod.metadata) as Pod['metadata'];
    child.managedFields = [];
    return [{ ...child }, pod];
  },
  'a deleted managedFields': (pod) => {
    delete pod.metadata.managedFields;
    return [pod, 'managedFields' in pod.metadata];
  },
  'a deleted managedFields that is written again': (pod) => {
    delete pod.metadata.managedFields;
    pod.metadata.managedFields = [];
    return [pod, Object.keys(pod.metadata)];
  },
  'a managedFields that is hidden': (pod) => {
    Object.defineProperty(pod.metadata, 'managedFields', { enumerable: false });
    return [JSON.stringify(pod), inspect(pod), pod.metadata.managedFields];
  },
  'a managedFields with another definition': (pod) => {
    Object.defineProperty(pod.metadata, 'managedFields', { value: [], writable: true });
    return [pod, Object.getOwnPropertyDescriptor(pod.metadata, 'managedFields')];
  },
  'a written resourceVersion of a sealed object': (pod) => {
    Object.seal(pod.metadata);
    pod.metadata.resourceVersion = '2';
    return [pod, Object.isSealed(pod.metadata), Reflect.deleteProperty(pod.metadata, 'managedFields')];
  },
  'a change inside managedFields': (pod) => {
    Reflect.set(pod.metadata.managedFields as object, 0, 'changed');
    return pod;
  },
  'a written label': (pod) => {
    pod.metadata.labels['app'] = 'db';
    return pod;
  },
  'a written spec': (pod) => {
    pod.spec = { nodeName: 'node-2', containers: [] };
    return pod;
  },
  'a written phase': (pod) => {
    pod.status.phase = 'Failed';
    return pod;
  },
  'a written image': (pod) => {
    for (const container of pod.spec.containers) container.image = 'b';
    return pod;
  },
  'a toleration more': (pod) => {
    (pod.spec.tolerations ??= []).push({});
    return pod;
  },
  'a frozen object': (pod) => {
    Object.freeze(pod.metadata);
    return [Object.isFrozen(pod.metadata), pod];
  },
  'a frozen object that is written': ({ metadata }) => {
    Object.freeze(metadata);
    assert.throws(() => (metadata.managedFields = 1), TypeError);
    return metadata.managedFields;
  },
  'an object frozen to any depth': (pod) => {
    deepFreeze(pod);
    return [Object.isFrozen(pod.metadata.managedFields), pod];
  },
  'an object frozen by all its own keys': (pod) => {
    freezeOwn(pod);
    return [Object.isFrozen(pod.metadata.managedFields), pod];
  },
};

const packr = new Packr();

const NODE: Looks = {
  isDeepStrictEqual: (pod, plain) => [isDeepStrictEqual(pod, plain), isDeepStrictEqual(plain, pod)],
  'assert.deepStrictEqual': (pod, plain) => {
    assert.deepEqual(pod, plain);
    assert.deepEqual(plain, pod);
  },
  'assert.deepEqual, which is loose': (pod, plain) => legacyAssert.deepEqual(pod, plain),
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
};

const LIBRARIES: Looks = {
  'isEqual of lodash': (pod, plain) => [lodash.isEqual(pod, plain), lodash.isEqual(plain, pod)],
  'isPlainObject of lodash': ({ metadata }) => lodash.isPlainObject(metadata),
  'cloneDeep of lodash': (pod) => lodash.cloneDeep(pod),
  'merge of lodash': (pod) => lodash.merge({}, pod),
  'get of lodash': (pod) => lodash.get(pod, 'metadata.managedFields[0].manager') as unknown,
  'omit of lodash': (pod) => lodash.omit(pod, 'metadata.managedFields'),
  'fast-deep-equal': (pod, plain) => [equal(pod, plain), equal(plain, pod)],
  rfdc: (pod) => rfdc()(pod),
  'compare of fast-json-patch': (pod, plain) => [
    jsonPatch.compare(pod, plain),
    jsonPatch.compare(plain, pod),
  ],
  'applyPatch of fast-json-patch': (pod) => patched(pod, true),
  'applyPatch of fast-json-patch on a copy': (pod) => [patched(pod, false), pod],
  'produce of immer': (pod) => [
    produce(pod, ({ metadata }) => {
      metadata.labels['app'] = 'db';
    }),
    pod,
  ],
  'produce of immer that writes managedFields': (pod) => [
    produce(pod, ({ metadata }) => {
      (metadata.managedFields as { manager: string }[])[0]!.manager = 'another';
    }),
    pod,
  ],
  'plainToInstance of class-transformer': (pod) => ({ ...plainToInstance(Model, pod) }),
  'instanceToPlain of class-transformer': (pod) => instanceToPlain(pod),
};

class Model {
  kind = '';
}

/** The matchers that the test runners have in common. */
interface Matchers {
  toEqual(expected: unknown): void;
  toStrictEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toHaveProperty(path: string, value: unknown): void;
}

function matchersOf(runner: string, expects: (value: unknown) => Matchers): Looks {
  return {
    [`toEqual of ${runner}`]: (pod, plain) => {
      expects(pod).toEqual(plain);
      expects(plain).toEqual(pod);
    },
    [`toStrictEqual of ${runner}`]: (pod, plain) => {
      expects(pod).toStrictEqual(plain);
      expects(plain).toStrictEqual(pod);
    },
    [`toMatchObject of ${runner}`]: (pod, plain) => {
      expects(pod).toMatchObject({ metadata: plain.metadata });
      expects(plain).toMatchObject({ metadata: pod.metadata });
    },
    [`toHaveProperty of ${runner}`]: (pod, { metadata }) => {
      expects(pod).toHaveProperty('metadata.managedFields', metadata.managedFields);
    },
    [`a failed toEqual of ${runner}`]: (pod, { spec }) => messageOf(() => expects(pod).toEqual({ spec })),
  };
}

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
const VITEST = matchersOf('vitest', (value) => chai.expect(value) as unknown as Matchers);

// Both runners keep their matchers in one global object: jest makes its own.
Reflect.deleteProperty(globalThis, JEST_MATCHERS_OBJECT);
/** Bun cannot import the package as a module. */
const jest = createRequire(import.meta.url)('expect') as { readonly expect: (value: unknown) => Matchers };
const JEST = matchersOf('jest', jest.expect);

const PRINTED: Looks = {
  inspect: (pod) => inspect(pod),
  'inspect of metadata': ({ metadata }) => inspect(metadata),
  'inspect to any depth': (pod) => inspect(pod, { depth: Infinity }),
  'inspect of every depth': (pod) => [0, 1, 2, 3, 4].map((depth) => inspect(pod, { depth })),
  'inspect in another object': (pod) => inspect({ pod, metadata: pod.metadata }, { depth: 3 }),
  'format with %o': ({ metadata }) => format('%o', metadata),
  'format with %j': (pod) => format('%j', pod),
  'console.log': (pod) => printed((console) => console.log(pod, pod.metadata)),
  'console.table': ({ metadata }) => printed((console) => console.table([metadata], ['managedFields'])),
  'console.log of the runtime': (pod) => inspectOfRuntime()(pod),
};

export const LOOKS: Looks = { ...LANGUAGE, ...WRITES, ...NODE, ...LIBRARIES, ...VITEST, ...JEST, ...PRINTED };

/** Returns what a debugger shows of metadata when its user opens the values of accessors. Node only. */
export const debuggerLook: Look = ({ metadata }) => {
  const session = new Session();
  session.connect();
  const shown = Object.assign(globalThis, { shown: metadata });
  try {
    const { result } = asked(session, 'Runtime.evaluate', { expression: 'shown' });
    const { result: own } = asked(session, 'Runtime.getProperties', {
      objectId: result.objectId,
      ownProperties: true,
    });
    return own
      .filter(({ enumerable }) => enumerable)
      .map(({ name }) => [name, opened(session, result, name)]);
  } finally {
    Reflect.deleteProperty(shown, 'shown');
    session.disconnect();
  }
};

interface Remote {
  readonly objectId: string;
  readonly value: unknown;
}

interface Answers {
  'Runtime.evaluate': { readonly result: Remote };
  'Runtime.callFunctionOn': { readonly result: Remote };
  'Runtime.getProperties': {
    readonly result: readonly { readonly name: string; readonly enumerable: boolean }[];
  };
}

function opened(session: Session, { objectId }: Remote, name: string): unknown {
  return asked(session, 'Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: 'function (name) { return this[name]; }',
    arguments: [{ value: name }],
    returnByValue: true,
  }).result.value;
}

/** Sessions in their own thread answer at once. */
function asked<Method extends keyof Answers>(
  session: Session,
  method: Method,
  params: object,
): Answers[Method] {
  let answer: object | undefined;
  session.post(method, params, (error, result) => (answer = error ?? result));
  if (answer === undefined || answer instanceof Error) throw answer ?? new Error(method);
  return answer as Answers[Method];
}

/** Returns a proxy that makes proxies of the objects and functions that it returns, as libraries for observed state do. */
function observed<T extends object>(target: T): T {
  return new Proxy(target, {
    get(...at) {
      const value: unknown = Reflect.get(...at);
      return typeof value === 'function' || (typeof value === 'object' && value !== null)
        ? observed(value)
        : value;
    },
  });
}

function freezeOwn(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) freezeOwn(Reflect.get(value, key));
}

function patched(pod: Pod, inPlace: boolean): unknown {
  const patch = [
    { op: 'add', path: '/metadata/labels/tier', value: 'db' },
    { op: 'remove', path: '/metadata/managedFields/0' },
  ] as const;
  return jsonPatch.applyPatch(pod, patch, true, inPlace).newDocument;
}

function messageOf(call: () => void): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
}

function printed(print: (console: Console) => void): string {
  let text = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    text += chunk.toString();
    done();
  };
  print(new Console(new Writable({ write })));
  return text;
}

/** Returns what the `console` of the runtime prints with. */
function inspectOfRuntime(): (value: unknown) => string {
  const { Bun, Deno } = globalThis as {
    Bun?: { inspect: typeof inspect };
    Deno?: { inspect: typeof inspect };
  };
  return (Bun ?? Deno ?? { inspect }).inspect;
}

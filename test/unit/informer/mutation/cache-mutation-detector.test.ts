/** The comparing detector: what it finds, when it looks, and for how long it remembers. */
import { Mark } from '../../../../src/kube/meta-shape.ts';
import { tombstone } from '../../../../src/kube/tombstone.ts';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { beforeEach, describe, test } from 'node:test';
import {
  CacheMutationDetector,
  MutationError,
  refusedWrite,
} from '../../../../src/informer/mutation/cache-mutation-detector.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/fake-clock.ts';

interface Pod {
  metadata: { name: string; namespace?: string; labels: Record<string, string> };
}

function pod(name: string): Pod {
  return { metadata: { name, namespace: 'default', labels: { app: 'web' } } };
}

let clock: FakeClock;
let failures: MutationError[];
let detector: CacheMutationDetector;

beforeEach(() => {
  clock = new FakeClock(0);
  failures = [];
  detector = new CacheMutationDetector({
    name: 'pods',
    clock,
    failureFunc: (failure) => failures.push(failure),
  });
});

describe('the comparing detector', () => {
  test('C149 names the written object and the changes', () => {
    const [web, api] = [pod('web-0'), pod('api-0')];
    detector.addObject(web);
    detector.addObject(api);
    web.metadata = { ...web.metadata };
    detector.compareObjects();
    assert.deepEqual([...failures], [], 'nothing is found without a write');
    web.metadata.labels['app'] = 'api';
    detector.compareObjects();
    assert.equal(failures.length, 1);
    const [failure] = failures;
    assert.ok(failure instanceof MutationError);
    assert.equal(failure.code, 'ERR_KUBELOOM_MUTATION');
    assert.equal(failure.key, 'default/web-0');
    assert.deepEqual(failure.changes, ["metadata.labels.app: 'web' -> 'api'"]);
    assert.match(
      failure.message,
      /^pods: code wrote to the shared object default\/web-0: .*metadata\.labels\.app/,
    );
  });

  test('C149 reports every write once', () => {
    const web = pod('web-0');
    detector.addObject(web);
    web.metadata.labels['app'] = 'api';
    detector.compareObjects();
    detector.compareObjects();
    assert.equal(failures.length, 1);
    web.metadata.labels['app'] = 'web';
    detector.compareObjects();
    assert.deepEqual(failures[1]?.changes, ["metadata.labels.app: 'api' -> 'web'"]);
  });

  test('without a failure function throws', () => {
    const strict = new CacheMutationDetector();
    const web = pod('web-0');
    strict.addObject(web);
    strict.compareObjects();
    web.metadata.name = 'web-1';
    assert.throws(() => strict.compareObjects(), {
      code: 'ERR_KUBELOOM_MUTATION',
      message: /^cache: code wrote to the shared object default/,
    });
  });

  test('ignores tombstones and values that are not objects', () => {
    const object = pod('web-0');
    for (const value of [tombstone('default/web-0', object), undefined, null, 'text', 7])
      detector.addObject(value);
    assert.equal(detector.size, 0);
    object.metadata.name = 'web-1';
    detector.compareObjects();
    assert.deepEqual(failures, []);
  });

  test("watches the object of an informer's entry", () => {
    const object = pod('web-0');
    detector.addObject({
      [Mark.Entry]: true,
      key: 'default/web-0',
      namespace: 'default',
      name: 'web-0',
      object,
    });
    object.metadata.labels['app'] = 'api';
    detector.compareObjects();
    assert.equal(failures[0]?.key, 'default/web-0');
  });

  test('takes the given key, or else the key of the metadata', () => {
    const node = { metadata: { name: 'node-1' } };
    const nameless = { a: 1 };
    const given = { a: 1 };
    detector.addObject(node);
    detector.addObject(nameless);
    detector.addObject(given, 'mine');
    node.metadata.name = 'node-2';
    nameless.a = given.a = 2;
    detector.compareObjects();
    assert.deepEqual(
      failures.map(({ key }) => key),
      ['node-1', 'an object without a name', 'mine'],
    );
  });
});

describe('running', () => {
  test('compares at once and every second, until its signal is aborted', async () => {
    const abort = new AbortController();
    const web = pod('web-0');
    detector.addObject(web);
    web.metadata.labels['app'] = '0';
    const run = detector.run({ signal: abort.signal });
    assert.equal(failures.length, 1);
    web.metadata.labels['app'] = '1';
    clock.advance(999);
    assert.equal(failures.length, 1);
    clock.advance(1);
    assert.equal(failures.length, 2);
    clock.advance(5000);
    assert.equal(failures.length, 2);
    abort.abort();
    await run;
    web.metadata.labels['app'] = '2';
    clock.advance(5000);
    assert.equal(failures.length, 2);
    assert.equal(clock.pending, 0);
  });

  test('C149 remembers an object for two to four minutes', async () => {
    const abort = new AbortController();
    const run = detector.run({ signal: abort.signal });
    const [early, late] = [pod('early'), pod('late')];
    detector.addObject(early);
    clock.advance(119_000);
    detector.addObject(late);
    clock.advance(2000); // the first rotation, at 121 s
    assert.equal(detector.size, 2);
    early.metadata.labels['app'] = 'x';
    clock.advance(1000);
    assert.deepEqual(
      failures.map(({ key }) => key),
      ['default/early'],
    );
    clock.advance(119_000);
    assert.equal(detector.size, 2);
    clock.advance(1000); // the second one, at 242 s
    assert.equal(detector.size, 0);
    late.metadata.labels['app'] = 'x';
    clock.advance(5000);
    assert.equal(failures.length, 1);
    abort.abort();
    await run;
  });

  test('rejects with the error of the failure function, and ends its timers', async () => {
    const fatal = new CacheMutationDetector({ clock });
    const abort = new AbortController();
    const web = pod('web-0');
    fatal.addObject(web);
    const run = fatal.run({ signal: abort.signal });
    web.metadata.name = 'web-1';
    clock.advance(1000);
    await assert.rejects(run, { code: 'ERR_KUBELOOM_MUTATION' });
    assert.deepEqual([clock.pending, getEventListeners(abort.signal, 'abort').length], [0, 0]);
  });

  test('does nothing with a signal that is aborted already', async () => {
    const web = pod('web-0');
    detector.addObject(web);
    web.metadata.name = 'web-1';
    await detector.run({ signal: AbortSignal.abort() });
    assert.deepEqual([failures.length, clock.pending], [0, 0]);
  });

  test('refuses periods that are none', () => {
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    assert.throws(() => new CacheMutationDetector({ periodMs: 0 }), refused);
    assert.throws(() => new CacheMutationDetector({ periodMs: 1000, retainMs: 10 }), refused);
  });
});

describe('a write that a frozen object refuses', () => {
  const writes: Readonly<Record<string, (object: { a?: number; b?: number; list: number[] }) => void>> = {
    assigns: (object) => (object.a = 2),
    adds: (object) => (object.b = 2),
    deletes: (object) => delete object.a,
    'defines a member': (object) => Object.defineProperty(object, 'a', { value: 2 }),
    pushes: ({ list }) => list.push(1),
    pops: ({ list }) => list.pop(),
    'cuts a list': ({ list }) => (list.length = 0),
  };

  for (const [name, write] of Object.entries(writes)) {
    test(`is known by the error of this runtime when code ${name}`, () => {
      const object = Object.freeze({ a: 1, list: Object.freeze([1]) as number[] });
      let thrown: unknown;
      try {
        write(object);
      } catch (error) {
        thrown = error;
      }
      assert.equal(refusedWrite(thrown, 'default/a')?.code, 'ERR_KUBELOOM_MUTATION');
    });
  }

  // The messages of JavaScriptCore: Bun's.
  for (const message of [
    'Attempted to assign to readonly property.',
    'Attempting to define property on object that is not extensible.',
    'Attempting to change value of a readonly property.',
    'Unable to delete property.',
    'Array length is not writable',
  ]) {
    test(`is known by the error of Bun: ${message}`, () => {
      assert.equal(refusedWrite(new TypeError(message), 'default/a')?.code, 'ERR_KUBELOOM_MUTATION');
    });
  }

  test('is distinguished from other errors of a handler', () => {
    assert.equal(
      refusedWrite(new TypeError("Cannot read properties of undefined (reading 'a')"), 'a'),
      undefined,
    );
    assert.equal(refusedWrite(new Error('Attempted to assign to readonly property.'), 'a'), undefined);
  });
});

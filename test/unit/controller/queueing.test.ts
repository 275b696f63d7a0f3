/** controller-runtime's event handlers: the keys, and their priorities, that a change puts into the queue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  LOW_PRIORITY,
  controllerKeys,
  feed,
  mappedKeys,
  queueingHandler,
} from '../../../src/controller/queueing.ts';
import type { KeysOf } from '../../../src/controller/queueing.ts';
import type { Predicate } from '../../../src/controller/index.ts';
import { DeletedFinalStateUnknown, resources } from '../../../src/index.ts';
import { PriorityQueue } from '../../../src/workqueue/index.ts';
import type { Borrowed, KubeObject } from '../../../src/index.ts';
import type { AddOptions } from '../../../src/workqueue/index.ts';
import { processWarnings } from '../../kit/warnings.ts';
import { state } from './changes.ts';

class RecordingQueue extends PriorityQueue<string> {
  readonly added: (readonly [key: string, priority: number | undefined])[] = [];

  override addWithOptions(options: AddOptions, ...items: readonly string[]): void {
    for (const item of items) this.added.push([item, options.priority]);
  }
}

interface Queueing {
  readonly handler: ReturnType<typeof queueingHandler<KubeObject>>;
  readonly added: RecordingQueue['added'];
}

function queueing(keysOf: KeysOf<KubeObject>, predicate?: Predicate<KubeObject>): Queueing {
  const queue = new RecordingQueue();
  return { handler: queueingHandler(queue, keysOf, predicate), added: queue.added };
}

const keysOf = (added: Queueing['added']): string => added.map(([key]) => key).join(' ');
const ownKey: KeysOf<KubeObject> = ({ key }) => [key];

describe('a change', () => {
  it('is reported when map or the predicate is asynchronous, and their rejection ends nothing', async () => {
    const rejecting = (): never => Promise.reject(new Error('it rejects')) as never;
    const mapped = queueing(mappedKeys(resources.core.v1.pods, rejecting));
    assert.throws(() => mapped.handler.onAdd?.(state(), false), { code: 'ERR_KUBELOOM_OPTION' });
    const selected = queueing(ownKey, rejecting);
    assert.throws(() => selected.handler.onAdd?.(state(), false), { code: 'ERR_KUBELOOM_OPTION' });
    assert.equal(selected.added.length, 1, 'the change counts');
    // Rejections without a handler would be reported here.
    await new Promise(setImmediate);
  });

  it('queues the key of the object, once', () => {
    const { handler, added } = queueing(ownKey);
    handler.onAdd?.(state(), false);
    handler.onUpdate?.(state({ resourceVersion: '1' }), state({ resourceVersion: '2' }));
    handler.onDelete?.(state());
    const own = ['default/web', 0];
    assert.deepEqual(added, [own, own, own]);
  });

  it('has a low priority when nothing has changed: the initial list, resyncs', () => {
    const { handler, added } = queueing(ownKey);
    handler.onAdd?.(state(), true);
    handler.onUpdate?.(state({ resourceVersion: '1' }), state({ resourceVersion: '1' }));
    const own = ['default/web', LOW_PRIORITY];
    assert.deepEqual(added, [own, own]);
  });

  it('queues all keys when it affects more objects than a call has arguments', () => {
    const all = Array.from({ length: 300_000 }, (_, index) => `default/${index}`);
    const { handler, added } = queueing(mappedKeys(resources.core.v1.pods, () => all));
    handler.onAdd?.(state(), false);
    assert.equal(added.length, all.length);
  });

  it('queues the keys of both states of an update', () => {
    const { handler, added } = queueing(({ labels }) => [labels['of'] ?? '', 'all']);
    const after = state({ labels: { of: 'b' }, resourceVersion: '2' });
    handler.onUpdate?.(state({ labels: { of: 'a' } }), after);
    assert.equal(keysOf(added), 'a all b');
  });

  it('queues nothing that the predicate does not select', () => {
    const seen: string[] = [];
    const { handler, added } = queueing(ownKey, ({ type, object }) => seen.push(`${type} ${object.key}`) > 3);
    handler.onAdd?.(state(), false);
    handler.onUpdate?.(state(), state());
    handler.onDelete?.(state());
    assert.deepEqual([seen, added], [['add default/web', 'update default/web', 'delete default/web'], []]);
  });

  it('has the last known state when a relist found the object missing', () => {
    const { handler, added } = queueing(({ labels }) => [labels['of'] ?? '']);
    const last = state({ labels: { of: 'a' }, identity: { key: 'default/web' } });
    handler.onDelete?.(new DeletedFinalStateUnknown<KubeObject>(last));
    assert.deepEqual(added, [['a', 0]]);
  });
});

describe('functions of the program that throw', () => {
  const keyed = state({ labels: { of: 'a/b' }, identity: { key: 'default/web' } });
  const throwing = (): never => {
    throw new TypeError('wrong');
  };

  it('C281 let a change count whose predicate throws, and the informer reports it', () => {
    const { handler, added } = queueing(({ labels }) => [labels['of'] ?? ''], throwing);
    assert.throws(() => handler.onAdd?.(keyed, false), /wrong/);
    assert.deepEqual(added, [['a/b', 0]]);
  });

  it('C281 let the keys of the other state be queued', () => {
    const other = state({ labels: {}, identity: { key: 'default/web' } });
    const { handler, added } = queueing(({ labels }) => (labels['of'] ? [labels['of']] : throwing()));
    assert.throws(() => handler.onUpdate?.(keyed, other), /wrong/);
    assert.throws(() => handler.onUpdate?.(other, keyed), /wrong/);
    const low = ['a/b', LOW_PRIORITY];
    assert.deepEqual(added, [low, low]);
  });

  const { deployments } = resources.apps.v1;
  const ANSWERS: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    text: 'a/b',
    'a key without a namespace': ['b'],
    'a key with too much': ['a/b/c'],
    'an empty key': ['a/b', ''],
    'an object': [{ namespace: 'a', name: 'b' }],
  };
  for (const [what, answer] of Object.entries(ANSWERS)) {
    it(`C281 are refused with a code when a mapping function returns ${what}`, () => {
      const { handler, added } = queueing(mappedKeys(deployments, () => answer as readonly string[]));
      const message = /^what map returns for deployments must be a list of/;
      assert.throws(() => handler.onAdd?.(keyed, false), { code: 'ERR_KUBELOOM_OPTION', message });
      assert.deepEqual(added, []);
    });
  }

  it('may map to names of cluster-scoped objects', () => {
    const { handler, added } = queueing(mappedKeys(resources.core.v1.nodes, () => ['n1']));
    handler.onAdd?.(keyed, false);
    assert.deepEqual(added, [['n1', 0]]);
  });
});

describe('controllerKeys', () => {
  const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u1', controller: true };
  const { deployments } = resources.apps.v1;
  const owned = (...ownerReferences: readonly object[]): Borrowed<KubeObject> =>
    state({ key: 'a/x', namespace: 'a', name: 'x', controllerUid: 'u1', metadata: { ownerReferences } });
  const keys = (...ownerReferences: readonly object[]): readonly string[] =>
    controllerKeys(deployments)(owned(...ownerReferences));

  it('has the owner that controls the object, in the namespace of the object', () => {
    assert.deepEqual(keys(controller), ['a/web']);
    assert.deepEqual(keys({ ...controller, name: 'other', controller: false }, controller), ['a/web']);
  });

  it('compares kind and group, and not the version', () => {
    assert.deepEqual(keys({ ...controller, apiVersion: 'apps/v1beta1' }), ['a/web']);
    assert.deepEqual(keys({ ...controller, apiVersion: 'example.com/v1' }), []);
    assert.deepEqual(keys({ ...controller, apiVersion: 'v1' }), []);
    assert.deepEqual(keys({ ...controller, kind: 'ReplicaSet' }), []);
    const pod = { ...controller, apiVersion: 'v1', kind: 'Pod' };
    assert.deepEqual(controllerKeys(resources.core.v1.pods)(owned(pod)), ['a/web']);
  });

  it('has no namespace for an owner that is cluster-scoped', () => {
    const node = { ...controller, apiVersion: 'v1', kind: 'Node', name: 'n1' };
    assert.deepEqual(controllerKeys(resources.core.v1.nodes)(owned(node)), ['n1']);
  });

  it('C285 has no key for a cluster-scoped object that names a namespaced owner, nor for a name that is none', () => {
    const references = { metadata: { ownerReferences: [controller] } };
    const child = state({ key: 'x', namespace: '', name: 'x', controllerUid: 'u1', ...references });
    assert.deepEqual(controllerKeys(deployments)(child), []);
    assert.deepEqual(keys({ ...controller, name: 'a/b' }), []);
    assert.deepEqual(keys({ ...controller, name: '' }), []);
  });

  it('has no key without an owner that controls the object', () => {
    assert.deepEqual(keys({ ...controller, controller: false }), []);
    assert.deepEqual(keys({ ...controller, controller: undefined }), []);
    assert.deepEqual(keys(), []);
    assert.deepEqual(controllerKeys(deployments)(state()), []);
  });

  it('has the owners of both states when an object is handed over', () => {
    const { handler, added } = queueing(controllerKeys(deployments));
    handler.onUpdate?.(owned(controller), owned({ ...controller, name: 'next' }));
    handler.onUpdate?.(owned(controller), owned(controller));
    assert.equal(keysOf(added), 'a/web a/next a/web');
  });
});

describe('feed', () => {
  const { pods } = resources.core.v1;

  it('reads results that come without a promise, as for await, and a return that throws ends nothing', async (t) => {
    const seen = processWarnings(t);
    const queue = new PriorityQueue<string>();
    const stop = new AbortController();
    const results = [{ done: false, value: 'a/b' }, new Promise(() => undefined)];
    const end = (): never => {
      throw new Error('it does not return');
    };
    const iterator = { next: () => results.shift(), return: end };
    const stream = { [Symbol.asyncIterator]: () => iterator } as unknown as AsyncIterable<string>;
    const map = (event: unknown): readonly string[] => [String(event)];
    const fed = feed({ stream, map }, pods, queue, stop.signal);
    assert.equal(await queue.get(), 'a/b');
    stop.abort();
    await fed;
    assert.match(seen[0]?.message ?? '', /return threw: it does not return/);
  });

  it('reports keys that are no keys of the kind, and reads on', async (t) => {
    const seen = processWarnings(t);
    const queue = new PriorityQueue<string>();
    const keys: readonly unknown[] = [[undefined], ['b'], ['a/b/c'], [7], 'a/b', undefined, ['a/b']];
    async function* stream(): AsyncGenerator {
      await Promise.resolve();
      yield* keys;
    }
    const map = (event: unknown): readonly string[] => event as readonly string[];
    await feed({ stream: stream(), map }, pods, queue, new AbortController().signal);
    assert.equal(await queue.get(), 'a/b');
    assert.equal(queue.length, 0);
    assert.equal(seen.length, keys.length - 1);
  });
});

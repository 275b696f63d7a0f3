/** Models whose members are converted when they are read look like models that were converted at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect, isDeepStrictEqual } from 'node:util';
import * as k8s from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { LazyModels } from '../../../../src/kube/model/lazy-models.ts';
import { ModelClasses } from '../../../../src/kube/model/model-classes.ts';
import { LOOKS } from '../../replica/store/looks.ts';

const TIME = '2024-05-06T07:08:09Z';
const models = new LazyModels(new ModelClasses(k8s));

function wire(members: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      labels: { app: 'web' },
      creationTimestamp: TIME,
      managedFields: [{ manager: 'm', time: TIME, fieldsV1: { 'f:spec': {} } }],
    },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '100m' } } }],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', lastTransitionTime: TIME }], startTime: null },
    ...members,
  };
}

function lazy(members?: object): V1Pod {
  const model = models.of(wire(members));
  assert.ok(model instanceof k8s.V1Pod);
  return model;
}

/** Returns the model with values in place of accessors. */
function eager(members?: object): V1Pod {
  return withValues(lazy(members)) as V1Pod;
}

function withValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withValues);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const copy = Object.create(Object.getPrototypeOf(value) as object) as object;
  for (const [key, member] of Object.entries(value)) Reflect.set(copy, key, withValues(member));
  return copy;
}

/** Looks at members of models, and changes of them, beside those at any object. */
const OWN_LOOKS: Readonly<Record<string, (pod: V1Pod) => unknown>> = {
  'the keys of its members': (pod) => [pod, pod.metadata, pod.status].map((each) => Object.keys(each ?? {})),
  'its entries': (pod) => Object.entries(pod),
  'an object that inherits its members': (pod) => (Object.create(pod) as V1Pod).spec?.nodeName,
  'a write into a frozen model': (pod) => {
    assert.throws(() => Object.assign(Object.freeze(pod), { spec: null }), TypeError);
    return pod;
  },
  'a written time': (pod) => {
    if (pod.metadata) pod.metadata.creationTimestamp = new Date(0);
    return pod;
  },
  'a changed time': (pod) => {
    pod.metadata?.creationTimestamp?.setTime(0);
    return JSON.stringify(pod);
  },
  'a deleted status': (pod) => {
    delete pod.status;
    return [pod, 'status' in pod];
  },
};

type ModelLook = (pod: V1Pod, eager: V1Pod) => unknown;

/** A library may refuse models, whichever way they were made. */
function outcome(look: ModelLook, pod: V1Pod): unknown {
  try {
    return look(pod, eager());
  } catch (error) {
    return String(error);
  }
}

describe('a model whose members are converted when they are read', () => {
  for (const [name, look] of Object.entries({ ...LOOKS, ...OWN_LOOKS } as Readonly<
    Record<string, ModelLook>
  >)) {
    test(`looks like a model that was converted at once: ${name}`, () => {
      const [expected, seen] = [outcome(look, eager()), outcome(look, lazy())];
      assert.ok(isDeepStrictEqual(seen, expected), inspect([seen, expected]));
      assert.ok(isDeepStrictEqual(expected, seen), inspect([seen, expected]));
    });
  }

  test('has members of the classes of client-node, the same at every read', () => {
    const pod = lazy();
    const [condition] = pod.status?.conditions ?? [];
    assert.ok(pod.metadata instanceof k8s.V1ObjectMeta);
    assert.ok(pod.spec?.containers[0] instanceof k8s.V1Container);
    assert.ok(condition instanceof k8s.V1PodCondition);
    assert.ok(condition.lastTransitionTime instanceof Date);
    assert.equal(condition, pod.status?.conditions?.[0]);
    assert.equal(pod.metadata, pod.metadata);
    assert.equal(pod.metadata.creationTimestamp, pod.metadata.creationTimestamp);
  });

  test('converts no member before it is read', () => {
    const read: string[] = [];
    const spec = { nodeName: 'node-1' };
    const object = wire();
    for (const [key, value] of Object.entries({ spec, status: null })) {
      const get = (): unknown => (read.push(key), value);
      Object.defineProperty(object, key, { get, enumerable: true });
    }
    const pod = models.of(object) as V1Pod;
    assert.deepEqual(read, []);
    assert.equal(pod.spec?.nodeName, 'node-1');
    assert.deepEqual(read, ['spec']);
  });

  test('keeps null, and values of other shapes than the model has, as client-node does', () => {
    const other = { metadata: { creationTimestamp: 5, labels: null }, spec: 'text', status: [1] };
    const { metadata, spec, status } = lazy(other) as unknown as typeof other;
    assert.deepEqual([{ ...metadata }, spec, status], [other.metadata, 'text', [1]]);
    assert.equal(lazy({ spec: null }).spec, null);
    const { conditions } = lazy({ status: { conditions: { 0: 'not a list' } } }).status ?? {};
    assert.deepEqual(conditions, { 0: 'not a list' });
  });

  test('lacks fields that client-node does not know, and members that the object lacks', () => {
    const pod = lazy({ spec: { containers: [], fromTheFuture: true }, alsoNew: 1 });
    assert.deepEqual(Object.keys(pod), ['apiVersion', 'kind', 'metadata', 'spec', 'status']);
    assert.deepEqual(Object.keys(pod.spec ?? {}), ['containers']);
  });

  test('prints in a copy that has the hidden members among its own', () => {
    const pod = lazy();
    const copy = Object.fromEntries(
      Reflect.ownKeys(pod).map((key) => [key, Reflect.get(pod, key) as unknown]),
    );
    assert.match(inspect(copy), /nodeName: 'node-1'/);
  });

  test('is none for a kind that client-node lacks', () => {
    assert.equal(models.of({ apiVersion: 'example.com/v1', kind: 'Pod' }), undefined);
    assert.equal(models.of({}), undefined);
  });
});

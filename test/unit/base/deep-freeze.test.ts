/** Freezing: every write throws where it is written, and nothing that is read changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deepFreeze } from '../../../src/base/deep-freeze.ts';
import { MutationError, refusedWrite } from '../../../src/informer/mutation/cache-mutation-detector.ts';

interface Pod {
  metadata: { labels: Record<string, string> };
  spec: { containers: { image: string; args: string[] }[] };
}

function frozenPod(): Pod {
  const pod: Pod = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ image: 'a', args: ['--one', '--two'] }] },
  };
  deepFreeze(pod);
  return pod;
}

const WRITES: readonly (readonly [string, (pod: Pod) => unknown])[] = [
  ['a member', (pod) => (pod.metadata.labels['app'] = 'api')],
  ['a new member', (pod) => (pod.metadata.labels['tier'] = 'front')],
  ['a deletion', (pod) => delete pod.metadata.labels['app']],
  ['a member of an element', (pod) => ((pod.spec.containers[0] as { image: string }).image = 'b')],
  ['an element', (pod) => (pod.spec.containers[0]!.args[0] = '--three')],
  ['push', (pod) => pod.spec.containers[0]!.args.push('--three')],
  ['pop', (pod) => pod.spec.containers[0]!.args.pop()],
  ['shift', (pod) => pod.spec.containers[0]!.args.shift()],
  ['splice', (pod) => pod.spec.containers.splice(0, 1)],
  ['sort', (pod) => pod.spec.containers[0]!.args.sort()],
  ['a length', (pod) => (pod.spec.containers.length = 0)],
  ['the root', (pod) => Object.assign(pod, { status: {} })],
  ['Object.assign', (pod) => Object.assign(pod.metadata.labels, { app: 'api' })],
  ['defineProperty', (pod) => Object.defineProperty(pod.spec, 'x', { value: 1 })],
  ['defineProperty of a member', (pod) => Object.defineProperty(pod.spec, 'containers', { value: 1 })],
];

test('a value that is deeper than the stack is frozen', () => {
  let root: unknown[] = [];
  const leaf = root;
  for (let depth = 0; depth < 100_000; depth++) root = [root];
  deepFreeze(root);
  assert.ok(Object.isFrozen(root) && Object.isFrozen(leaf));
});

describe('a write to a frozen object', () => {
  for (const [what, write] of WRITES) {
    test(`is refused and recognised: ${what}`, () => {
      const pod = frozenPod();
      const before = structuredClone(pod);
      const thrown = errorOf(() => write(pod));
      const report = refusedWrite(thrown, 'default/web-0');
      assert.ok(report instanceof MutationError, String(thrown));
      assert.equal(report.code, 'ERR_KUBELOOM_MUTATION');
      assert.equal(report.key, 'default/web-0');
      assert.match(report.message, /^default\/web-0: .*entry\.copy\(\)$/);
      assert.equal(report.cause, thrown);
      assert.deepEqual(pod, before);
    });
  }
});

test('the stack of a report is as free of control characters as its message', () => {
  const report = refusedWrite(
    errorOf(() => Object.assign(frozenPod(), { spec: 1 })),
    'default/\u001b[2J',
  );
  assert.match(report?.stack ?? '', /^KubeloomError: default\/\\x1b\[2J: /);
});

test('a write to a property that an entry only reads is also recognised', () => {
  const entry = {
    get object(): number {
      return 1;
    },
  };
  const thrown = errorOf(() => Object.assign(entry, { object: 2 }));
  assert.ok(refusedWrite(thrown, 'default/web-0') instanceof MutationError, String(thrown));
});

test('other errors of a handler are not taken for writes', () => {
  const others = [
    new TypeError("Cannot read properties of undefined (reading 'x')"),
    new Error('Cannot assign to read only property'),
    new RangeError('x'),
    'Cannot add property',
    undefined,
  ];
  for (const other of others) assert.equal(refusedWrite(other, 'k'), undefined);
});

test('depth is not limited, and values other than objects are left alone', () => {
  const deep = JSON.parse(`${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`) as { a: unknown[] };
  deepFreeze(deep);
  assert.ok(Object.isFrozen(deep) && Object.isFrozen(deep.a) && Object.isFrozen(deep.a[0]));
  for (const value of [undefined, null, 1, 'text']) deepFreeze(value);
});

function errorOf(write: () => unknown): unknown {
  try {
    write();
  } catch (error) {
    return error;
  }
  return undefined;
}

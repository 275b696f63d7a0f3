/** Cases about objects and versions, allowed or not, that are hard to parse. */
import assert from 'node:assert/strict';
import { annotated, pod, put } from '../../kit/objects.ts';
import { onlyWatches } from './strikes.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';

/** Adds a member to an object's event; checks that its bytes in the cache are unchanged. */
async function grafted(scene: Scene, name: string, value: Buffer | string): Promise<string> {
  const raw = Buffer.from(value);
  await scene.untilCurrent();
  const id = await scene.fault({ type: 'graft', name, value: raw.toString('base64') }, { verb: 'watch' });
  await scene.apply(put(annotated(pod('grafted'), { name })));
  await scene.untilLanded(id);
  await scene.untilCurrent();
  const bytes = scene.informer.getStore().getByKey('default/grafted')?.bytes();
  assert.ok(bytes?.includes(Buffer.concat([Buffer.from(`"${name}":`), raw])), `${name} is in the cache`);
  return name;
}

async function all(scene: Scene, values: Readonly<Record<string, Buffer | string>>): Promise<string> {
  scene.stopLoad();
  const done: string[] = [];
  for (const [name, value] of Object.entries(values)) done.push(await grafted(scene, name, value));
  assert.deepEqual(await scene.asked(), [], 'the watch goes on');
  return done.join(', ');
}

const versions = (id: string, what: string, prefix: string, digits: number): FaultCase<Scene> => ({
  id,
  what,
  expected: 'passed on unchanged; ordered where an order exists, compared for equality elsewhere',
  isStartedLater: true,
  // Compared as texts below, because the oracle compares numbers.
  excused: ['I1', 'I2', 'I3', 'I4', 'I4b', 'I5', 'I6', 'I7', 'I8', 'I9b', 'I11', 'I12', 'I13', 'I14'],
  run: async (scene) => {
    await scene.fault({ type: 'versions', prefix, digits }, {}, 'always');
    await scene.startInformer();
    await scene.mark();
    // Not healed before the end: a server does not change its numbering.
    await scene.untilLanded(await scene.fault({ type: 'end' }));
    await scene.untilReceived(100);
    scene.stopLoad();
    const revision = String(await scene.server.revision());
    const wanted = `${prefix}${revision.padStart(digits, '0')}`;
    await scene.until(() => scene.informer.lastSyncResourceVersion() === wanted, `the cache is at ${wanted}`);
    const state = await scene.server.state('pods');
    for (const { key, resourceVersion } of scene.informer.getStore().list())
      assert.equal(resourceVersion, `${prefix}${(state.get(key) ?? '').padStart(digits, '0')}`, key);
    return onlyWatches(scene);
  },
});

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

export const CASES_OF_DATA: readonly FaultCase<Scene>[] = [
  {
    id: '51',
    what: 'events larger than the rings between the threads',
    expected: 'complete, and in their order',
    threads: { indexerThreads: 2, ringBytes: 2 ** 14, logBytes: 16 * 2 ** 20 },
    run: async (scene) => {
      for (let size = 0; size < 20; size++) {
        const annotations = { size: 'x'.repeat(20_000 * (size + 1)) };
        await scene.apply(put(annotated(pod(`large-${size % 3}`), annotations)));
      }
      scene.own.push('large objects');
      return '20 events of 20 to 400 KB through rings of 16 KB';
    },
  },
  {
    id: '69',
    what: 'members called __proto__, constructor and toString',
    expected: 'as any other; no prototype is polluted',
    run: async (scene) => {
      const seen = await all(scene, { __proto_: '{"polluted":1}', constructor: '{"a":1}', toString: '1' });
      await grafted(scene, '__proto__', '{"polluted":true}');
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      return `${seen}, __proto__`;
    },
  },
  {
    id: '70a',
    what: 'nesting of 10,000, a million keys, a million elements',
    expected: 'delivered; no thread dies',
    // JSON.stringify cannot write it.
    hasBodies: false,
    // The keys alone are 12 MB.
    threads: { indexerThreads: 2, logBytes: 128 * 2 ** 20 },
    run: (scene) =>
      all(scene, {
        nested: nested(10_000),
        keys: `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
        elements: `[${'1,'.repeat(1_000_000)}1]`,
      }),
  },
  {
    id: '70b',
    what: 'nesting of 100,000, for which JSON.parse gives no message',
    expected: 'in the cache; reading it returns it or throws a coded error',
    run: (scene) => all(scene, { deep: nested(100_000) }),
    // JSON.stringify cannot write it.
    hasBodies: false,
  },
  {
    id: '71',
    what: 'integers beyond 2^53, 1e400, -0, a key twice, 17 digits',
    expected: 'bytes are exact; `object` is the result of JSON.parse',
    // JSON.stringify writes values differently that JavaScript has no number for.
    hasBodies: false,
    run: (scene) =>
      all(scene, {
        int64: '[9223372036854775807,9007199254740993]',
        huge: '[1e400,-1e400,-0]',
        twice: '{"a":1,"a":2}',
        digits: '[0.30000000000000004,1.7976931348623157e308]',
      }),
  },
  {
    id: '72',
    what: 'invalid UTF-8, lone surrogates, NUL, a byte order mark, U+2028',
    expected: 'bytes are exact; no thread dies',
    hasBodies: false,
    run: (scene) =>
      all(scene, {
        invalid: Buffer.from([0x22, 0xff, 0xfe, 0xc3, 0x22]),
        surrogates: '"\\ud800 \\udc00"',
        nul: '"a\\u0000b"',
        mark: Buffer.from('"\uFEFFa"'),
        separators: Buffer.from('"\u2028\u2029"'),
      }),
  },
  versions('73a', 'versions that are no numbers', 'abc-', 6),
  versions('73b', 'versions of 40 digits', '1'.repeat(20), 20),
  versions('73c', 'versions around 2^53', '90071992547409', 7),
  versions('73d', 'versions with leading zeros', '', 12),
];

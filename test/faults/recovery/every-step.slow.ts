/** End of a shard or of the reflector before any of its stores to shared memory: caches and handlers converge. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import type { FakeObject } from '../../../src/tools/apiserver/testing/index.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { PODS } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { MortalTwin } from './mortal-twin.ts';
import type { Death } from './mortal-twin.ts';

const NEVER: number = Number.MAX_SAFE_INTEGER;

const BULK: string = 'x'.repeat(70_000);

/** Codes of the history; an expired watch causes its relist. */
const EXPECTED: ReadonlySet<string> = new Set(['ERR_KUBELOOM_THREAD_RESTARTED', 'ERR_KUBELOOM_GONE']);

interface Pod extends FakeObject {
  readonly spec: { readonly text: string };
}

function pod(name: string, text: string): Pod {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, labels: { app: name } };
  const nodeName = `node-${text.length}`;
  // Two shapes, so that shape tables differ. And objects too large for a record and for a chunk of the list.
  const bulk = 'bceg'.includes(name) ? { bulk: BULK } : {};
  const spec = text === 'first' ? { nodeName, text, ...bulk } : { text, nodeName, ...bulk };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod;
}

/** Returns what the cache contains at the end. The handler must have received as much, and nothing twice. */
async function cacheWith(
  death: Death,
  codec: 'json' | 'msgpack',
): Promise<{ cache: string[]; hasDied: boolean }> {
  await using twin = new MortalTwin(death);
  const source = new FakeControllerSource<Pod>();
  const errors: string[] = [];
  const informer = new SharedIndexInformer<Pod>(source, PODS, {
    threads: twin.threads,
    codec,
    fields: ['spec.nodeName'],
    backoff: { initialMs: 1, maxMs: 2 },
    onError: (error) => errors.push(error.code),
  });
  const handler = new RecordingHandler();
  informer.addEventHandler(handler);
  for (const name of ['a', 'b', 'c', 'd', 'e']) source.add(pod(name, 'first'));
  const running = informer.run();
  await settled(informer);
  // Changes in a watch; an id is freed and used again.
  source.modify(pod('a', 'second'));
  source.delete(pod('b', 'first'));
  source.add(pod('f', 'first'));
  source.modify(pod('a', 'third'));
  await settled(informer);
  // A relist that finds changes, deletions and additions.
  source.modifyDropWatch(pod('c', 'second'));
  source.deleteDropWatch(pod('d', 'first'));
  source.deleteDropWatch(pod('f', 'first'));
  source.addDropWatch(pod('g', 'first'));
  source.resetWatch();
  await settled(informer);
  source.add(pod('b', 'again'));
  source.add(pod('h', 'first'));
  source.modify(pod('g', 'second'));
  source.delete(pod('e', 'first'));
  await settled(informer);
  const entries = informer.getStore().list();
  const versions = new Map(entries.map(({ key, resourceVersion }) => [key, resourceVersion]));
  await handler.until(() => isDeepStrictEqual(handler.held(), versions));
  handler.assertOnlyForward();
  // Decode now, including the output of ended threads.
  const cache = entries.map((entry) => {
    const { text } = entry.copy().spec;
    const { key, resourceVersion, uid, labels, fields } = entry;
    return `${key}@${resourceVersion} ${uid} ${labels['app']} ${text} ${String(fields['spec.nodeName'])}`;
  });
  await informer.shutdown();
  await running;
  const others = errors.filter((code) => !EXPECTED.has(code));
  assert.deepEqual(others, []);
  return { cache: cache.toSorted(), hasDied: twin.hasDied };
}

for (const role of [0, 1, 'reflector'] satisfies Role[]) {
  test(`the cache converges wherever ${role === 'reflector' ? 'the reflector' : `shard ${role}`} ends between its stores to shared memory`, async () => {
    const undisturbed = await cacheWith({ role, atStore: NEVER }, 'json');
    assert.equal(undisturbed.cache.length, 5);
    let atStore = 1;
    for (let hasDied = true; hasDied; atStore++) {
      // An object in msgpack does not fit into the ring at once, so a shard may end in the middle of it.
      const packed = await cacheWith({ role, atStore }, 'msgpack');
      assert.deepEqual(packed.cache, undisturbed.cache, `${role} died before its store ${atStore}`);
      ({ hasDied } = packed);
      if (atStore % 3 !== 0) continue;
      const plain = await cacheWith({ role, atStore }, 'json');
      assert.deepEqual(plain.cache, undisturbed.cache, `${role} died before its store ${atStore}, json`);
    }
    assert.ok(atStore > 20, `a history needs more than ${atStore} stores`);
  });
}

/** A history of a few objects that an informer follows while its threads end, or change: what the cache and a handler have at the end. */
import { isDeepStrictEqual } from 'node:util';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import type { FakeObject } from '../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';

const BULK: string = 'x'.repeat(70_000);

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

export interface Outcome {
  /** A line for each object. */
  readonly cache: readonly string[];
  /** Codes of the errors, without the expired watch of the history. */
  readonly codes: readonly string[];
}

/** Returns what the cache contains at the end. The handler has received as much, and nothing twice. */
export async function followHistory(threads: InformerThreads, codec: 'json' | 'msgpack'): Promise<Outcome> {
  const source = new FakeControllerSource<Pod>();
  const errors: string[] = [];
  const informer = new SharedIndexInformer<Pod>(source, PODS, {
    threads,
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
  return { cache: cache.toSorted(), codes: errors.filter((code) => code !== 'ERR_KUBELOOM_GONE') };
}

/** The lists and watches of a fake source, before any informer uses it. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import type { ListOptions, WatchEvent } from '../../../../../src/kube/lister-watcher.ts';
import { FakeControllerSource } from '../../../../../src/tools/apiserver/testing/index.ts';

interface Thing {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly resourceVersion?: string;
  };
  readonly value?: { number: number };
}

function thing(name: string, number = 0, namespace?: string): Thing {
  return { metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, value: { number } };
}

/** Returns a source with things of these names, in versions from 1. */
function sourceOf(...names: readonly string[]): FakeControllerSource<Thing> {
  const source = new FakeControllerSource<Thing>();
  for (const name of names) source.add(thing(name));
  return source;
}

/** Reads events as `ADDED a@1`, up to a number, from a watch that is then stopped. */
async function read(
  source: FakeControllerSource<Thing>,
  options: ListOptions,
  count: number,
): Promise<string[]> {
  const watch = await source.watch(options);
  const seen: string[] = [];
  for await (const event of watch) {
    seen.push(told(event));
    if (seen.length === count) break;
  }
  watch.stop();
  return seen;
}

function told({ type, object }: WatchEvent<Thing>): string {
  const { metadata } = object as Thing;
  return `${type} ${metadata.name ?? ''}@${metadata.resourceVersion}`;
}

async function versions(source: FakeControllerSource<Thing>): Promise<string[]> {
  const { items } = await source.list({});
  return items.map(
    ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}@${metadata.resourceVersion}`,
  );
}

describe('a fake controller source', () => {
  it('counts changes in resourceVersions, and lists the current objects in key order', async () => {
    const source = new FakeControllerSource<Thing>({ kind: 'ThingList', apiVersion: 'example.com/v1' });
    source.add(thing('b', 1, 'ns'));
    source.add(thing('a'));
    source.add(thing('c'));
    source.modify(thing('b', 2, 'ns'));
    source.delete(thing('c'));
    assert.deepEqual(await versions(source), ['/a@2', 'ns/b@4']);
    const { items: _, ...head } = await source.list({});
    assert.deepEqual(head, {
      kind: 'ThingList',
      apiVersion: 'example.com/v1',
      metadata: { resourceVersion: '5' },
    });
  });

  it('copies objects on their way in and on their way out', async () => {
    const source = new FakeControllerSource<Thing>();
    const mine = thing('a', 1);
    const watch = await source.watch({ resourceVersion: '0' });
    source.add(mine);
    if (mine.value) mine.value.number = 2;
    assert.equal(mine.metadata.resourceVersion, undefined);
    const [listed] = (await source.list({})).items;
    assert.equal(listed?.value?.number, 1);
    if (listed?.value) listed.value.number = 3;
    assert.equal((await source.list({})).items[0]?.value?.number, 1);
    watch.stop();
    for (let reader = 0; reader < 2; reader++) {
      for await (const event of await source.watch({ resourceVersion: '0' })) {
        if (event.type !== 'ADDED') continue;
        assert.equal(event.object.value?.number, 1);
        if (event.object.value) event.object.value.number = 9;
        break;
      }
    }
  });

  it('sends a watch the events after its version, and then new ones', async () => {
    const source = sourceOf('a', 'b');
    const reading = read(source, { resourceVersion: '1' }, 3);
    source.modify(thing('a'));
    source.delete(thing('b'));
    assert.deepEqual(await reading, ['ADDED b@2', 'MODIFIED a@3', 'DELETED b@4']);
  });

  it('keeps dropped changes from open watches, not from lists and new watches', async () => {
    const source = sourceOf('a');
    const open = read(source, { resourceVersion: '1' }, 1);
    source.addDropWatch(thing('b'));
    source.modifyDropWatch(thing('a'));
    source.deleteDropWatch(thing('b'));
    source.add(thing('c'));
    assert.deepEqual(await open, ['ADDED c@5']);
    assert.deepEqual(await versions(source), ['/a@3', '/c@5']);
    assert.deepEqual(await read(source, { resourceVersion: '1' }, 4), [
      'ADDED b@2',
      'MODIFIED a@3',
      'DELETED b@4',
      'ADDED c@5',
    ]);
  });

  it('ends watches on a reset, and answers a watch from before with 410', async () => {
    const source = sourceOf('a');
    const open = read(source, { resourceVersion: '0' }, 99);
    source.addDropWatch(thing('b'));
    source.resetWatch();
    assert.deepEqual(await open, ['BOOKMARK @0', 'ADDED a@1']);
    await assert.rejects(source.watch({ resourceVersion: '1' }), {
      code: 'ERR_KUBELOOM_GONE',
      httpStatus: 410,
    });
    source.add(thing('c'));
    assert.deepEqual(await read(source, { resourceVersion: '2' }, 1), ['ADDED c@3']);
  });

  it('allows ended watches to resume', async () => {
    const source = sourceOf('a');
    const open = read(source, { resourceVersion: '1' }, 99);
    source.endWatches();
    assert.deepEqual(await open, []);
    source.add(thing('b'));
    assert.deepEqual(await read(source, { resourceVersion: '1' }, 1), ['ADDED b@2']);
  });

  it('refuses future versions, like a server that is behind', async () => {
    await assert.rejects(new FakeControllerSource().watch({ resourceVersion: '7' }), {
      code: 'ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE',
    });
  });

  it('throws the given errors until they are removed', async () => {
    const source = new FakeControllerSource<Thing>();
    source.listError = new Error('no list');
    source.watchError = new Error('no watch');
    await assert.rejects(source.list({}), { message: 'no list' });
    await assert.rejects(source.watch({ resourceVersion: '0' }), { message: 'no watch' });
    source.listError = source.watchError = undefined;
    assert.deepEqual((await source.list({ limit: 5 })).items, []);
    assert.deepEqual(source.requests, [
      { verb: 'list', options: {} },
      { verb: 'watch', options: { resourceVersion: '0' } },
      { verb: 'list', options: { limit: 5 } },
    ]);
  });

  it('begins a watch without a version with the current objects, and ends a streaming list with its bookmark', async () => {
    const source = new FakeControllerSource<Thing>({ watchList: true });
    assert.equal(source.isWatchListUnsupported, false);
    assert.equal(new FakeControllerSource().isWatchListUnsupported, true);
    source.add(thing('b'));
    source.add(thing('a'));
    assert.deepEqual(await read(source, {}, 2), ['ADDED a@2', 'ADDED b@1']);
    const watch = await source.watch({ sendInitialEvents: true });
    const last: WatchEvent<Thing>[] = [];
    for await (const event of watch) if (last.push(event) === 3) break;
    assert.deepEqual(last[2], {
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });

  it('sends bookmarks that skip nothing: a dropped change does not count as sent', async () => {
    const source = sourceOf('a');
    const before = read(source, { resourceVersion: '1' }, 1);
    source.addDropWatch(thing('b'));
    assert.equal(source.sendBookmarks(), '1');
    assert.deepEqual(await before, ['BOOKMARK @1']);
    source.resetWatch();
    assert.equal(source.sendBookmarks(), '2', 'it will be listed');
  });

  it('forgets a watch that was stopped', async () => {
    const source = new FakeControllerSource<Thing>();
    const watch = await source.watch({ resourceVersion: '0' });
    assert.equal(source.openWatches, 1);
    watch.stop();
    watch.stop();
    source.add(thing('a'));
    for await (const event of watch) assert.fail(told(event));
    assert.equal(source.openWatches, 0);
  });

  it('stops a watch when its reader leaves, and when its signal is aborted', async () => {
    const source = sourceOf('a');
    const stop = new AbortController();
    for await (const event of await source.watch({}, stop.signal)) {
      assert.equal(told(event), 'ADDED a@1');
      break;
    }
    assert.equal(source.openWatches, 0);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    const open = await source.watch({ resourceVersion: '1' }, stop.signal);
    const waiting = open[Symbol.asyncIterator]().next();
    assert.equal(source.openWatches, 1);
    stop.abort();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.equal(source.openWatches, 0);
  });
});

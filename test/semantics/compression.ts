/** gzip: which answers a server compresses, and that an informer which asks for it has the same objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedIndexInformer, resources } from '../../src/index.ts';
import { HANG_MS } from '../kit/hang.ts';
import { Link } from '../kit/link.ts';
import { until } from '../kit/until.ts';
import { Fixture } from './fixture.ts';
import type { Target } from './target.ts';

const OBJECTS = 5;
const OBJECT_BYTES = 40_000;
const GZIP = { encoding: 'gzip' };

export function compressionSemantics(target: () => Promise<Target>): void {
  describe('gzip', () => {
    const fixture = Fixture.use(target);

    const createLarge = (name: string, bytes: number): Promise<unknown> =>
      fixture.post(fixture.configMaps(), { metadata: { name }, data: { text: 'x'.repeat(bytes) } });

    const createObjects = async (): Promise<void> => {
      for (let number = 0; number < OBJECTS; number++) await createLarge(`large-${number}`, OBJECT_BYTES);
    };

    it('is used for a LIST and a GET of more than 128 KiB, for clients that accept it', async () => {
      await createObjects();
      await createLarge('larger', 150_000);
      for (const path of [fixture.configMaps(), fixture.configMap('larger')]) {
        const plain = await fixture.client.get(path);
        assert.equal(plain.headers['content-encoding'], undefined);
        for (const encoding of ['gzip', 'br, gzip', 'deflate,gzip']) {
          const zipped = await fixture.client.get(path, { encoding });
          assert.equal(zipped.headers['content-encoding'], 'gzip');
          assert.equal(zipped.headers['vary'], 'Accept-Encoding');
          assert.equal(zipped.headers['content-type'], 'application/json');
          assert.equal(zipped.text, plain.text);
        }
        const other = await fixture.client.get(path, { encoding: 'br' });
        assert.equal(other.headers['content-encoding'], undefined);
      }
    });

    it('is not used for shorter answers, nor for a watch and a streaming list', async () => {
      await createObjects();
      for (const path of [fixture.configMaps('limit=3'), fixture.configMap('large-0')]) {
        const { headers } = await fixture.client.get(path, GZIP);
        assert.equal(headers['content-encoding'], undefined);
      }
      const streaming =
        'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
      for (const query of ['watch=1', streaming]) {
        const watch = await fixture.client.watch(fixture.configMaps(query), undefined, 'gzip');
        assert.equal(watch.headers['content-encoding'], undefined);
        assert.ok((await watch.take(OBJECTS)).every(({ type }) => type === 'ADDED'));
        watch.close();
      }
    });

    it('brings an informer the objects of the list in fewer bytes, and the watch after it', async () => {
      await createObjects();
      const { url, token, ca } = fixture.target;
      await using link = await Link.start(url);
      await using informer = new SharedIndexInformer(
        { server: link.url, token, ...(ca === '' ? {} : { ca }) },
        resources.core.v1.configMaps,
        { namespace: fixture.namespace, compression: 'on' },
      );
      void informer.run();
      const signal = AbortSignal.timeout(HANG_MS);
      await informer.waitForSync({ signal });
      assert.ok(link.receivedBytes < (OBJECTS * OBJECT_BYTES) / 4, `${link.receivedBytes} bytes`);
      const { items } = await fixture.list();
      for (const { metadata, data } of items) {
        const stored = informer.getStore().getByKey(`${fixture.namespace}/${metadata.name}`);
        assert.deepEqual(stored?.object.data, data);
        assert.equal(stored?.resourceVersion, metadata.resourceVersion);
      }
      const { metadata } = await fixture.create('later');
      await until(() => informer.getStore().getByKey(`${fixture.namespace}/${metadata.name}`) !== undefined);
    });
  });
}

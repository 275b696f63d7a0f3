/** The connection of an informer with a link: the link asks the handlers whether everything was delivered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer } from '../../../../src/index.ts';
import { allocateLink } from '../../../../src/thread/messages.ts';
import { DeltaKind } from '../../../../src/shared/record/delta.ts';
import { attachReader } from '../../../../src/thread/main/attach-reader.ts';
import type { CacheExport } from '../../../../src/thread/main/cache-export.ts';
import { ReaderLink } from '../../../../src/thread/main/reader-link.ts';
import { FakeControllerSource, settled } from '../../../../src/tools/apiserver/testing/index.ts';
import { PODS, pod } from '../../../kit/objects.ts';

test('C211 a thread receives no version while its handler has a pending list or call, although no notification is pending', async () => {
  const source = new FakeControllerSource();
  source.add({ ...pod('a') });
  await using threads = new InformerThreads({ indexerThreads: 0 });
  await using informer = new SharedIndexInformer(source, PODS, { threads });
  void informer.run();
  await informer.waitForSync();
  const link = new ReaderLink(allocateLink(4096), { post: () => undefined, broken: assert.fail });
  const { handlers } = informer.sharedParts;
  let cacheExport: CacheExport | undefined;
  let isIdle = true;
  const attached = attachReader(link, 1, {
    name: informer.name,
    hasStarted: () => true,
    isStopped: () => false,
    lastSyncResourceVersion: () => informer.lastSyncResourceVersion(),
    sharedParts: {
      ...informer.sharedParts,
      handlers: {
        add: (handler, options, writer) => {
          cacheExport = writer as CacheExport;
          return handlers.add(handler, options, writer);
        },
        isIdle: () => isIdle,
        remove: (...given) => handlers.remove(...given),
      },
    },
  });
  await settled(informer);
  assert.equal(cacheExport?.write(), 'all');
  isIdle = false;
  informer.sharedParts.pipeline.replica.control(DeltaKind.Bookmark, 0, '50');
  assert.equal(cacheExport.write(), 'later');
  isIdle = true;
  assert.equal(cacheExport.write(), 'all');
  attached.end();
  link.close();
});

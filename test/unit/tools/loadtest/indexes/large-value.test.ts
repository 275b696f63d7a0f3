/** Values that are larger than a ConfigMap. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../../../src/tools/apiserver/testing/index.ts';
import { readLargeValue, writeLargeValue } from '../../../../../src/tools/loadtest/indexes/large-value.ts';
import { statusNamespaceOf } from '../../../../../src/tools/loadtest/run/cluster.ts';
import { RUN, boardScene } from './scene.ts';

/** Text that hardly shrinks. */
function randomText(length: number): string {
  const random = seededRandom(1);
  return Array.from({ length }, () => String.fromCodePoint(33 + Math.floor(random() * 90))).join('');
}

const CONFIG_MAPS = `/api/v1/namespaces/${statusNamespaceOf(RUN)}/configmaps`;

describe('a large value', () => {
  it('is read as it was written, maps and several ConfigMaps included', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    const value = { text: randomText(2 ** 20), map: new Map([['a', new Map([[1, [null, 0.5]]])]]) };
    await writeLargeValue(scene.api, RUN, 'part-1', value);
    await writeLargeValue(scene.api, RUN, 'part-10', 'another one');
    assert.deepEqual(await readLargeValue(scene.client, RUN, 'part-1'), value);
    assert.equal((await scene.server.state('configmaps')).size, 3);
  });

  it('is absent when its writer died before the last piece, and damaged when a piece was deleted', async () => {
    await using scene = await boardScene();
    await scene.createNamespace();
    assert.equal(await readLargeValue(scene.client, RUN, 'part-1'), undefined);
    const value = randomText(2 ** 20);
    await writeLargeValue(scene.api, RUN, 'part-1', value);
    await scene.api.send('DELETE', `${CONFIG_MAPS}/part-1-0`);
    assert.equal(await readLargeValue(scene.client, RUN, 'part-1'), undefined);
    await writeLargeValue(scene.api, RUN, 'part-2', value);
    await scene.api.send('DELETE', `${CONFIG_MAPS}/part-2-1`);
    await assert.rejects(readLargeValue(scene.client, RUN, 'part-2'), {
      code: 'ERR_KUBELOOM_LOADTEST',
      message: /^part-2 of the run cannot be read: /,
    });
  });
});

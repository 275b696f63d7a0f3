/** Informers whose modules load, load late or never load. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MODULE_TIMEOUT_MS } from '../../../src/indexer/modules.ts';
import { PLAIN, ShardTwin } from './shard-twin.ts';

const NEVER = {
  transformModule: { url: new URL('./modules/never.js', import.meta.url).href, name: 'found' },
};
const MISSING = { transformModule: { url: 'file:///does/not/exist.js', name: 'x' } };
const OTHER = 2;

describe('a shard', () => {
  it('abandons an import that does not end in time, and works during the import', async () => {
    const twin = await ShardTwin.attached();
    const late = twin.attach(NEVER, OTHER);
    twin.deliver({ name: 'a', resourceVersion: '5' });
    assert.equal(twin.main.last.resourceVersion, 5);
    assert.equal(twin.shard.isLoading, true);
    twin.clock.advance(MODULE_TIMEOUT_MS);
    const answer = await late;
    assert.ok(answer.type === 'attached' && answer.informer === OTHER && answer.error);
    assert.equal(answer.error.code, 'ERR_KUBELOOM_MODULE');
    assert.match(answer.error.message, /never\.js.*its import did not end within 30000 ms/);
    assert.equal(twin.shard.isLoading, false);
  });

  it('has no pending deadline for a loaded module', async () => {
    const twin = await ShardTwin.attached(MISSING);
    assert.equal(twin.clock.pending, 0);
  });

  it('removes a detached informer, also while it loads, and does not answer for it', async () => {
    const twin = await ShardTwin.attached();
    twin.send({ type: 'attach', informer: OTHER, spec: { ...PLAIN, ...NEVER } });
    twin.send({ type: 'detach', informer: OTHER });
    assert.equal(twin.shard.isLoading, false);
    twin.clock.advance(MODULE_TIMEOUT_MS);
    twin.send({ type: 'detach', informer: 1 });
    await new Promise(setImmediate);
    twin.deliver({ name: 'a', resourceVersion: '5' });
    assert.deepEqual(twin.main.history, []);
    assert.deepEqual(twin.posted, [{ type: 'attached', informer: 1 }]);
  });
});

/** Conditions: their places, and the times of their transitions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ObjectClient,
  addFinalizer,
  patchCondition,
  setCondition,
} from '../../../../src/controller/index.ts';
import type { Condition } from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const FIRST = new Date('2026-01-02T03:04:05.678Z');
const LATER = new Date('2026-01-02T04:00:00Z');
const DONE = { type: 'Other', status: 'True', reason: 'Done', message: '' };
const OTHER = { ...DONE, lastTransitionTime: '2025-01-01T00:00:00Z' };
const READY = { type: 'Ready', status: 'False' as const, reason: 'Starting', message: 'one of two' };

describe('setCondition', () => {
  const first = setCondition([OTHER], READY, FIRST);

  it('adds a condition behind the others, with the time in whole seconds', () => {
    assert.deepEqual(first, [OTHER, { ...READY, lastTransitionTime: '2026-01-02T03:04:05Z' }]);
    assert.deepEqual(setCondition(undefined, READY, FIRST), first.slice(1));
  });

  it('changes the time only with the status', () => {
    const explained = setCondition(first, { ...READY, message: 'two of two' }, LATER);
    assert.deepEqual(explained, [OTHER, { ...first[1], message: 'two of two' }]);
    const ready = setCondition(explained, { ...READY, status: 'True' }, LATER);
    const later = { ...READY, status: 'True', lastTransitionTime: '2026-01-02T04:00:00Z' };
    assert.deepEqual(ready, [OTHER, later]);
  });

  it('returns the same array when nothing changes', () => {
    assert.equal(setCondition(first, READY, LATER), first);
  });

  it('C474 replaces observedGeneration, also by none, and keeps members of other types', () => {
    const probed = { lastProbeTime: '2026-01-01T00:00:00Z' };
    const observed = setCondition([], { ...READY, ...probed, observedGeneration: 4 }, FIRST);
    const [after] = setCondition(observed, { ...READY, status: 'True' }, LATER);
    assert.equal('observedGeneration' in (after ?? {}), false);
    assert.deepEqual(after, { ...after, ...probed });
    const unchanged = setCondition(observed, READY, LATER);
    assert.equal('observedGeneration' in (unchanged[0] ?? {}), false, 'although all else is equal');
    assert.equal(setCondition(unchanged, READY, LATER), unchanged);
  });
});

describe('patchCondition', () => {
  const { nodes } = resources.core.v1;
  const stored = (resourceVersion: string, conditions: readonly Condition[]): object => ({
    metadata: { name: 'a', resourceVersion },
    status: { conditions },
  });

  it('C474 leaves the condition of another writer: a write from an older state is a conflict', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false });
    const client = new ObjectClient(server.connection);
    const read = await client.create(nodes, { metadata: { name: 'a' } });
    const written = await patchCondition(client, nodes, read, READY);
    assert.equal(written?.status?.conditions?.length, 1);
    const other = { ...READY, type: 'Audited' };
    await assert.rejects(patchCondition(client, nodes, read, other), { code: 'ERR_KUBELOOM_CONFLICT' });
    const both = await patchCondition(client, nodes, written, other);
    assert.deepEqual(
      both?.status?.conditions?.map(({ type }) => type),
      ['Ready', 'Audited'],
    );
    assert.equal(await patchCondition(client, nodes, both, other), undefined);
  });

  it('C474 needs the version that was read, as finalizers do', async () => {
    const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
    const refused = { code: 'ERR_KUBELOOM_OPTION', message: /the version that was read/ };
    for (const version of ['', '0'])
      await assert.rejects(patchCondition(client, nodes, stored(version, []), READY), refused);
    await assert.rejects(addFinalizer(client, nodes, { metadata: { name: 'a' } }, 'example.com/a'), refused);
  });
});

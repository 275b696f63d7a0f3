/** The judge of the tests with several processes: it must find what it is there for. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ReconcileContext } from '../../../../src/controller/index.ts';
import { logged, overlaps, readWorks } from '../../../kit/work-log.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

const CONTEXT = {} as ReconcileContext;

test('the log of works has the beginning and the end of each, and finds members that overlap on a key', async () => {
  await using folder = new TemporaryFolder();
  const [a, b] = [folder.file('a'), folder.file('b')];
  const inside = logged(b, 'b', { slot: 1, epoch: 3 }, () => undefined);
  const failing = logged(a, 'a', { slot: 1, epoch: 2 }, async (key) => {
    await inside(key, CONTEXT);
    throw new Error('broken');
  });
  await assert.rejects(Promise.resolve(failing('ns/x', CONTEXT)));
  await inside('ns/y', CONTEXT);
  appendFileSync(b, '[99,"b",1,3,"ns/');
  const works = [a, b].flatMap(readWorks);
  assert.deepEqual(
    works.map(({ member, epoch, key, endNs }) => [member, epoch, key, endNs !== undefined]),
    [
      ['a', 2, 'ns/x', true],
      ['b', 3, 'ns/x', true],
      ['b', 3, 'ns/y', true],
    ],
  );
  const pairs = overlaps(works, () => 0n);
  assert.deepEqual(
    pairs.map(([first, second]) => [first.member, second.member, second.key]),
    [['a', 'b', 'ns/x']],
  );
  const killed = works.map((work) => ({ ...work, endNs: work.member === 'a' ? undefined : work.endNs }));
  assert.deepEqual(
    overlaps(killed, ({ beginNs }) => beginNs),
    [],
  );
});

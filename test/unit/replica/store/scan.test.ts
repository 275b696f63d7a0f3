/** Scans: a snapshot in list order, whatever changes meanwhile, with pauses for other tasks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelSelectorAsSelector } from '../../../../src/kube/label-selector.ts';
import type { Borrowed } from '../../../../src/replica/store/cached-object.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { ScriptedReplica } from './scripted-replica.ts';

const EVERYTHING = labelSelectorAsSelector({});
const textOf = ({ key, resourceVersion }: Borrowed<unknown>): string => `${key}@${resourceVersion}`;

/** Scans to the end; `meanwhile` runs in the loop's body with the number of the object. */
async function scanned(
  script: ScriptedReplica,
  meanwhile: (index: number) => void = () => undefined,
  namespace = '',
): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of script.indexer.scan(EVERYTHING, namespace)) {
    meanwhile(found.length);
    found.push(textOf(entry));
  }
  return found;
}

const NAMES = ['a', 'b', 'c', 'd'];
function started(): ScriptedReplica {
  const script = new ScriptedReplica();
  script.relist(...NAMES.map((name, index) => ({ name, version: index + 1 })));
  return script;
}

describe('a scan', () => {
  test('yields every object of one namespace or of all, once and in list order', async () => {
    const script = started();
    script.put({ name: 'e', namespace: 'other', version: 5 });
    const keys = [...script.indexer.listKeys()];
    assert.deepEqual(
      await scanned(script),
      keys.map((key, index) => `${key}@${index + 1}`),
    );
    assert.deepEqual(await scanned(script, undefined, 'other'), ['other/e@5']);
    assert.deepEqual(await scanned(script, undefined, 'none'), []);
  });

  test('yields the objects as of its start, including objects changed or deleted since', async () => {
    const script = started();
    const before = await scanned(script);
    const during = await scanned(script, (index) => {
      if (index !== 0) return;
      script.put({ name: 'b', version: 11 }, { name: 'e', version: 12 });
      script.remove({ name: 'c', version: 13 });
    });
    assert.deepEqual(during.sort(), before);
    assert.ok(script.dispose());
  });

  test('is not disturbed by a relist', async () => {
    const script = started();
    const before = await scanned(script);
    const during = await scanned(script, (index) => {
      if (index === 1) script.relist({ name: 'd', version: 21 });
    });
    assert.deepEqual(during, before);
    assert.equal(script.indexer.size, 1);
    assert.ok(script.dispose());
  });

  test('releases its snapshot when the loop is left, and when its body throws', async () => {
    for (const leave of [false, true]) {
      const script = started();
      const scanning = (async () => {
        for await (const entry of script.indexer.scan(EVERYTHING, '')) {
          script.put({ name: 'c', version: 31 });
          script.remove({ name: 'd', version: 32 });
          if (leave) break;
          throw new Error(entry.name);
        }
      })();
      if (leave) await scanning;
      else await assert.rejects(scanning, { message: 'a' });
      assert.ok(script.dispose());
    }
  });

  test('lends each object until the next one is asked for', async () => {
    const script = started();
    const entries: Borrowed<unknown>[] = [];
    for await (const entry of script.indexer.scan(EVERYTHING, '')) {
      assert.ok(entry.object);
      if (entry.name === 'b') entry.retain();
      entries.push(entry);
    }
    const [first, second] = entries;
    assert.throws(() => first?.object, { code: 'ERR_KUBELOOM_BORROW_EXPIRED', message: /a scan/ });
    assert.ok(second?.object);
  });

  test('lets other tasks run when its budget is used up, and does not pause before', async () => {
    for (const [stepMs, expected] of [
      [0, 0],
      [0.5, 2],
      [1, 4],
    ] as const) {
      const clock = new FakeClock();
      const script = new ScriptedReplica({ pace: { clock, budgetMs: 1 } });
      script.relist(...NAMES.map((name, index) => ({ name, version: index + 1 })));
      let turns = 0;
      let isOver = false;
      const count = (): void => {
        if (isOver) return;
        turns++;
        setImmediate(count);
      };
      setImmediate(count);
      await scanned(script, () => clock.advance(stepMs));
      isOver = true;
      assert.equal(turns, expected, `${stepMs} ms an object`);
    }
  });
});

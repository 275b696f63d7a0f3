/** Every fault case that needs no socket and no thread, in virtual time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from './cases.ts';
import { runCase } from './judge-case.ts';
import { SimulatedScene } from './simulated-scene.ts';

for (const fault of CASES) {
  test(`fault ${fault.id}, ${fault.what}: ${fault.expected}`, async () => {
    const { verdict, complaints } = await runCase(fault, () => SimulatedScene.start(fault, 1));
    assert.deepEqual([verdict, ...complaints], ['passed']);
  });
}

test('a case with a seed is the same run every time', async () => {
  const [fault] = CASES.filter(({ id }) => id === '2');
  assert.ok(fault);
  const run = async (seed: number): Promise<readonly unknown[]> => {
    let scene: SimulatedScene | undefined;
    await runCase(fault, async () => (scene = await SimulatedScene.start(fault, seed)));
    return (
      scene?.recorder.histories.delivered.map((record) => ({
        ...record,
        uid: '',
        hash: '',
        objectHash: '',
      })) ?? []
    );
  };
  const first = await run(3);
  assert.ok(first.length > 100);
  assert.deepEqual(await run(3), first);
  assert.notDeepEqual(await run(4), first);
});

/** Tests of the steps of a release: each of them is carried out, and none of their failures is forgotten. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryOut, reasonsOf, tableOf } from './steps.ts';

const found = (name: string, text: string): { name: string; work: () => Promise<string> } => ({
  name,
  work: () => Promise.resolve(text),
});
const failing = (name: string, reason: string): { name: string; work: () => Promise<string> } => ({
  name,
  work: () => Promise.reject(new Error(reason)),
});

test('a step that fails ends no other step, and its reason is listed', async () => {
  const seen: string[] = [];
  const steps = [found('size', '3 kB'), failing('publint', 'a fault\n'), found('demo', '')];
  const outcomes = await carryOut(steps, ({ name }) => seen.push(name));
  assert.deepEqual(seen, ['size', 'publint', 'demo']);
  assert.equal(reasonsOf(outcomes), '- publint: a fault');
});

test('the table of steps shows the verdict on each step and what it found', async () => {
  const outcomes = await carryOut([found('size', '3 kB'), failing('publint', 'a fault'), found('demo', '')]);
  assert.deepEqual(tableOf(outcomes.map((each) => ({ ...each, seconds: 1.2 }))).split('\n'), [
    'ok         1 s  size     3 kB',
    'FAILED     1 s  publint',
    'ok         1 s  demo',
  ]);
});

test('steps that all succeed leave no reason', async () => {
  assert.equal(reasonsOf(await carryOut([found('size', '3 kB')])), '');
});

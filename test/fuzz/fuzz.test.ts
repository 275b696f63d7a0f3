/** A few seeds of each target, and wrong targets, which the oracle must find: a fuzz that cannot fail proves nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { KubeloomError } from '../../src/index.ts';
import { CANARY } from '../security/canary.ts';
import { ofFifths } from './fifths.ts';
import { Fuzzer } from './probe.ts';
import type { FuzzCase, FuzzTarget } from './probe.ts';
import { TARGETS } from './targets.ts';
import { HANG_MS } from '../kit/hang.ts';

async function complaintsOf(target: FuzzTarget, cases: number, firstSeed: number = 1): Promise<string[]> {
  await using fuzzer = await Fuzzer.open(target);
  const complaints: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
    complaints.push(...(await fuzzer.run(seed)).map((complaint) => `--seed ${seed}: ${complaint}`));
  }
  complaints.push(...(await fuzzer.leftovers()));
  return complaints;
}

function targetOf(run: FuzzCase, timeoutMs: number = HANG_MS): FuzzTarget {
  const open = async (): Promise<{ run: FuzzCase; close: () => Promise<void> }> => ({
    run,
    close: async () => {},
  });
  return { name: 'wrong', timeoutMs, quickCases: 1, cases: 1, releaseMs: 0, open };
}

for (const target of TARGETS) {
  test(`hostile ${target.name} end with a code or the right value`, async () => {
    assert.deepEqual(await complaintsOf(target, target.quickCases), []);
  });
}

const held: unknown[] = [];
const coded = (text: string): KubeloomError => new KubeloomError('ERR_KUBELOOM_OPTION', text);

/** Faults that a library could have, each with the complaint about it. */
const WRONGS: Readonly<Record<string, readonly [complaint: RegExp, run: FuzzCase]>> = {
  'an error without a code': [/not coded/, () => Promise.reject(new Error('x'))],
  'an error with an unknown code': [
    /ERR_KUBELOOM_NONE/,
    (_, probe) => probe.error(new KubeloomError('ERR_KUBELOOM_NONE' as never, 'x'), 'x'),
  ],
  'a failed check of an invariant': [
    /ASSERTION/,
    (_, probe) => probe.error(new KubeloomError('ERR_KUBELOOM_ASSERTION', 'x'), 'x'),
  ],
  'a value that is thrown': [/not coded/, () => Promise.reject(7)],
  'a rejection that nothing takes': [/unhandled rejection/, () => void Promise.reject(new Error('x'))],
  'an exception outside of every call': [/uncaught/, () => { setImmediate(() => { throw new Error('x'); }); return turn(); }], // prettier-ignore
  'a secret in a message': [/a secret/, (_, probe) => probe.error(coded(`Bearer ${CANARY}`), 'x')],
  'a secret in a cause': [
    /a secret/,
    (_, probe) =>
      probe.error(new KubeloomError('ERR_KUBELOOM_OPTION', 'x', { cause: new Error(CANARY) }), 'x'),
  ],
  'a secret in base64': [/a secret/, (_, probe) => probe.text(Buffer.from(CANARY).toString('base64'), 'x')],
  'a secret in a warning': [/a warning: a secret/, () => { process.emitWarning(CANARY); return turn(); }], // prettier-ignore
  'a secret in the output': [/the output: a secret/, () => void process.stdout.write(`# ${CANARY}\n`)],
  'memory that is held': [/MiB are held/, () => void held.push(Buffer.alloc(2 ** 20, 1))],
  'timers that are held': [/handles are held/, () => void held.push(setInterval(() => {}, 2 ** 30))],
};

describe('the oracle finds', () => {
  for (const [what, [complaint, run]] of Object.entries(WRONGS)) {
    const cases = complaint.source.includes('held') ? 80 : 1;
    test(what, async () => {
      const complaints = await complaintsOf(targetOf(run), cases);
      for (const each of held.splice(0)) clearInterval(each as NodeJS.Timeout);
      assert.match(complaints.join('\n'), complaint);
    });
  }
});

test('the oracle finds a case without an end', async () => {
  const complaints = await complaintsOf(
    targetOf(() => new Promise<void>(() => {}), 50),
    1,
  );
  assert.match(complaints.join(), /hangs/);
});

test('what is released after a while is not a fault', async () => {
  const target = targetOf(() => {
    const timer = setInterval(() => {}, 2 ** 30);
    setTimeout(() => clearInterval(timer), 300);
  });
  assert.deepEqual(await complaintsOf({ ...target, releaseMs: HANG_MS }, 80), []);
});

test('a seed is one case: the same one again makes the same choices', async () => {
  const drawn: number[] = [];
  const target = targetOf((chance) => void drawn.push(chance.random()));
  await complaintsOf(target, 2, 7);
  await complaintsOf(target, 2, 7);
  assert.equal(drawn[0], drawn[2]);
  assert.equal(drawn[1], drawn[3]);
  assert.notEqual(drawn[0], drawn[1]);
});

test('the five fifths are all seeds, each once, and any other number is refused', () => {
  const seeds = Array.from({ length: 100 }, (_, index) => index + 1);
  const parts = ['0', '1', '2', '3', '4'].map((fifth) => seeds.filter(ofFifths(fifth)));
  const all = parts.flat().toSorted((one, other) => one - other);
  assert.deepEqual(all, seeds);
  assert.deepEqual(seeds.filter(ofFifths('0,3')).slice(0, 4), [3, 5, 8, 10]);
  assert.deepEqual(seeds.filter(ofFifths(undefined)), seeds);
  for (const wrong of ['5', '-1', 'all', '1.5']) assert.throws(() => ofFifths(wrong), /from 0 to 4/);
});

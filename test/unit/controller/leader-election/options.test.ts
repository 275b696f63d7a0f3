/** The options of an elector: client-go's conditions on times and identity, and everything that cannot be meant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LeaderElector, ObjectClient } from '../../../../src/controller/index.ts';
import type { LeaderElectorOptions } from '../../../../src/controller/index.ts';
import { MemoryLease, MemoryLock } from './memory-lock.ts';
import { aborted } from './scene.ts';

describe('the options of an elector', () => {
  const lock = new MemoryLock(new MemoryLease(), 'me');
  const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
  const lease = { client, namespace: 'default', name: 'lease' };
  const CASES: readonly (readonly [title: string, options: object, message: RegExp])[] = [
    ['a deadline not before the end of the lease', { lock, leaseDurationMs: 10_000 }, /greater than renew/],
    ['a deadline without a second attempt', { lock, retryPeriodMs: 9000 }, /greater than 1.2 × retryPeriod/],
    ['a negative time', { lock, retryPeriodMs: -1 }, /retryPeriodMs must be a number from 1/],
    ['an empty identity', { ...lease, identity: '' }, /identity must be a text that is not empty/],
    ['a lock without identity', { lock: new MemoryLock(new MemoryLease(), '') }, /identity of the lock/],
    ['an empty name', { ...lease, name: '' }, /name must be a text that is not empty/],
    ['no lock and no lease', {}, /client must be given, or a lock in its place/],
    ['a lease without a name', { client, namespace: 'default' }, /name must be given/],
    ['a lock and a lease', { lock, ...lease }, /lock must be absent when there is a client/],
    ['a lock that is none', { lock: {} }, /lock must be a lock with get\(\)/],
    ['an unknown option', { lock, leaseDuration: 15 }, /did you mean leaseDurationMs\?/],
  ];
  for (const [title, options, message] of CASES) {
    test(`are refused: ${title}`, () => {
      const construct = (): unknown => new LeaderElector(options as LeaderElectorOptions);
      assert.throws(construct, { code: 'ERR_KUBELOOM_OPTION', message });
    });
  }

  test('have the name of the host as the default identity', () => {
    const [a, b] = [new LeaderElector(lease), new LeaderElector(lease)];
    assert.match(a.identity, /^.+_[\da-f-]{36}$/);
    assert.notEqual(a.identity, b.identity);
  });

  test('do not include the arguments of run, which are also checked', async () => {
    const elector = new LeaderElector({ lock });
    const never = new AbortController().signal;
    const wrong = elector.run({ signal: {} as AbortSignal }, aborted);
    await assert.rejects(wrong, /signal must be an AbortSignal/);
    await assert.rejects(elector.run({ signal: never }, undefined as never), /onLeading must be a function/);
  });
});

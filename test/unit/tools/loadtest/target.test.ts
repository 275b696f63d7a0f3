/** The clusters to which a load test writes without `--yes`: throwaway clusters on this machine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { targetText, checkTarget } from '../../../../src/tools/loadtest/run/target.ts';
import type { LoadTestTarget } from '../../../../src/tools/loadtest/run/target.ts';

const KIND: LoadTestTarget = {
  context: 'kind-kind',
  cluster: 'kind-kind',
  server: 'https://127.0.0.1:41234',
  user: 'kind-kind',
  hasProxy: false,
};

const ALLOWED: readonly Partial<LoadTestTarget>[] = [
  {},
  { server: 'https://127.8.9.10:6443' },
  { server: 'https://[::1]:6443' },
  { context: 'kubeloom-embedded' },
];

const REFUSED: readonly (readonly [why: string, target: Partial<LoadTestTarget>])[] = [
  ['a remote server whose context is called kind-prod', { context: 'kind-prod', server: 'https://10.0.0.1' }],
  ['a name that resolves to loopback now', { server: 'https://localhost:6443' }],
  ['a name that begins like a loopback address', { server: 'https://127.0.0.1.example.org:6443' }],
  ['a loopback address in the user part of a URL', { server: 'https://127.0.0.1@example.org' }],
  ['a context that is not of kind', { context: 'production' }],
  ['a context that only contains the word', { context: 'my-kind-cluster' }],
  ['an embedded server on another machine', { context: 'kubeloom-embedded', server: 'https://10.0.0.1' }],
  ['a context without a name behind kind', { context: 'kind-' }],
  ['a proxy on the way', { hasProxy: true }],
  ['no URL', { server: 'nonsense' }],
  ['a minikube', { context: 'minikube' }],
];

describe('the target of a load test', () => {
  for (const change of ALLOWED) {
    it(`is allowed: ${JSON.stringify(change)}`, () => checkTarget({ ...KIND, ...change }, false));
  }

  for (const [why, change] of REFUSED) {
    it(`is refused without --yes: ${why}`, () => {
      const target = { ...KIND, ...change };
      assert.throws(() => checkTarget(target, false), {
        code: 'ERR_KUBELOOM_LOADTEST_REFUSED',
        message: /^nothing was sent: .*--yes/,
      });
      checkTarget(target, true);
    });
  }

  it('is named in a single line, whatever its names contain', () => {
    const text = targetText({ ...KIND, context: 'kind-\u001b[2Jx\ny' });
    assert.equal(text.includes('\u001b') || text.includes('\n'), false);
  });
});

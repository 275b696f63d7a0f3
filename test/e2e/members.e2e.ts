/**
 * Members of a group as processes that are killed, stopped, frozen and cut off, judged by their history. `KILLS=120 SEED=7`
 * makes the run longer: the kills at each server, with as many other faults in between.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { clusterOfTests } from './control-plane.ts';
import { getText } from './get-text.ts';
import { reportOf, runScenario } from './members/scenario.ts';
import type { Target } from './members/scenario.ts';

const KILLS = Number(process.env['KILLS'] ?? 6);
const SEED = Number(process.env['SEED'] ?? 1);
const MEMBERS = 4;
/**
 * Part of all changes that one of four members may receive from a server that filters. Even shares are 0.25; while a
 * member is down, and on a busy machine for seconds after, the others have its part.
 */
const SHARE_MAX = 0.5;
/** Events that the server may send for each change: 4 without a filter. */
const SENT_MAX = 1.4;
const TITLE = 'each key has one owner at a time, and every change reaches one, while members are struck';
const SENT = /^apiserver_watch_events_total\{[^}]*resource="configmaps"[^}]*\} (?<count>\S+)$/gm;

async function judged(context: TestContext, target: Target, isFiltering: boolean): Promise<void> {
  const outcome = await runScenario(target, KILLS, SEED);
  for (const line of reportOf(outcome)) context.diagnostic(line);
  assert.deepEqual(outcome.violations.slice(0, 20), []);
  assert.ok(outcome.handOversMs.length > 0, 'no partition was handed over');
  assert.equal(outcome.shares.length, MEMBERS);
  if (!isFiltering) return;
  for (const share of outcome.shares)
    assert.ok(share > 0 && share <= SHARE_MAX, `a member received ${share}`);
  const { sentPerChange = 1 } = outcome;
  assert.ok(sentPerChange <= SENT_MAX, `the server sent ${sentPerChange} events for each change`);
}

describe('members of a group at the embedded apiserver', () => {
  test(TITLE, async (context) => {
    await using server = await startEmbeddedApiServer({ isolation: 'process', sharding: 'echoes' });
    const { kubeConfigYaml: kubeconfig } = server;
    await judged(context, { kubeconfig, sentEvents: () => Promise.resolve(undefined) }, true);
  });
});

for (const isFiltering of [true, false]) {
  describe(`members of a group at a real kube-apiserver, ShardedListAndWatch=${isFiltering}`, () => {
    const cluster = clusterOfTests({
      apiServerFlags: [`--feature-gates=ShardedListAndWatch=${isFiltering}`],
    });

    test(TITLE, async (context) => {
      const { controlPlane } = cluster();
      const sentEvents = async (): Promise<number> => {
        const samples = (await getText(controlPlane, '/metrics')).matchAll(SENT);
        return [...samples].reduce((sum, { groups }) => sum + Number(groups?.['count']), 0);
      };
      const kubeconfig = readFileSync(controlPlane.kubeconfigPath, 'utf8');
      await judged(context, { kubeconfig, sentEvents }, isFiltering);
    });
  });
}

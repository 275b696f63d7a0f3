/**
 * Members of a group and candidates of an election as processes at a real kube-apiserver: the leader is killed, and a member joins.
 * Writes are a closed loop. The judge reads the order of acts only; test/sim/partitions and test/sim/election prove the rules.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ObjectClient } from '../../src/controller/index.ts';
import { resources } from '../../src/index.ts';
import { clusterOfTests } from './control-plane.ts';
import { LEADERSHIP } from './members/election.ts';
import { nowMs } from './members/history.ts';
import type { Line } from './members/history.ts';
import { judge, undelivered } from './members/judge.ts';
import { Members } from './members/members.ts';
import { until } from '../kit/until.ts';

const { configMaps } = resources.core.v1;
const NAMESPACE = 'default';
const MEMBERS = 2;
const KEYS = 64;

for (const isFiltering of [true, false]) {
  describe(`members of a group at a real kube-apiserver, ShardedListAndWatch=${isFiltering}`, () => {
    const cluster = clusterOfTests({
      apiServerFlags: [`--feature-gates=ShardedListAndWatch=${isFiltering}`],
    });

    test('each key has one owner at a time and one member leads, while the leader is killed and a member joins', async () => {
      const { controlPlane, kubeConfig } = cluster();
      const client = new ObjectClient(kubeConfig);
      const written: Line[] = [];
      await using members = new Members(readFileSync(controlPlane.kubeconfigPath, 'utf8'));
      const lines = (): readonly Line[] => [...members.lines(), ...written];
      const leader = (): string | undefined => {
        const acts = lines().filter((line) => line.kind === 'begins' && line.partition === LEADERSHIP);
        const last = acts.toSorted((one, other) => one.atMs - other.atMs).at(-1);
        return last?.kind === 'begins' ? last.member : undefined;
      };
      /** Makes one change after the other until something is so. */
      const writeUntil = (isSo: () => boolean, what: string): Promise<void> =>
        until(async () => {
          const name = `key-${written.length % KEYS}`;
          const isNew = written.length < KEYS;
          const data = { change: String(written.length) };
          const { metadata } = isNew
            ? await client.create(configMaps, { metadata: { name, namespace: NAMESPACE }, data })
            : await client.patch(configMaps, { name, namespace: NAMESPACE }, { data });
          const key = `${NAMESPACE}/${name}#${metadata?.uid}`;
          written.push({ kind: 'wrote', atMs: nowMs(), key, version: Number(metadata?.resourceVersion) });
          return isSo();
        }, what);
      const areAtWork = (): boolean =>
        members.healthy.length === MEMBERS && members.healthy.every(({ partitions }) => partitions > 0);

      for (let count = 0; count < MEMBERS; count++) await members.start();
      await writeUntil(
        () => areAtWork() && leader() !== undefined,
        'a partition for each member, and a leader',
      );
      const killed = leader() ?? '';
      await members.replace(killed, 'SIGKILL');
      await writeUntil(
        () => areAtWork() && leader() !== killed,
        'a partition for the new member, and a leader',
      );
      await until(() => undelivered(lines()).length === 0, 'a work on the newest state of each key');
      await members.leave();
      assert.deepEqual([...members.failures, ...judge(lines())], []);
    });
  });
}

/** What a reflector asked for that is no more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend, BackendEvents } from '../../src/threads/backend.ts';
import { InformerThreads } from '../../src/threads/informer-threads.ts';
import type { ConnectionOptions, Query, ReflectorSpec } from '../../src/threads/protocol.ts';
import { PLAIN } from '../indexer/shard-twin.ts';
import { turns } from '../informer/scene.ts';
import { MergingInformer } from '../processor/merging-informer.ts';

test('C174 credentials that a dead reflector asked for do not reach its successor', async () => {
  const sent: string[] = [];
  let events: BackendEvents | undefined;
  const backend: Backend = {
    heartbeat: () => undefined,
    end: () => Promise.resolve(),
    succeed: (role) => sent.push(`succeed ${role}`),
    toReflector: (message) =>
      sent.push(message.type === 'prepared' ? `prepared ${message.request}` : message.type),
    toShard: (shard, message) => {
      if (message.type !== 'attach') return;
      const { informer } = message;
      setImmediate(() => events?.fromShard(shard, { type: 'attached', informer }));
    },
    unref: () => undefined,
    close: () => Promise.resolve(),
  };
  await using threads = new InformerThreads(
    { threads: 0 },
    { backend: (_memory, given) => ((events = given), backend) },
  );
  const answers: ((prepared: { connection: ConnectionOptions; query: Query }) => void)[] = [];
  const informer = await threads.attach({
    merge: new MergingInformer().merge,
    shardSpec: PLAIN,
    reflectorSpec: {} as ReflectorSpec,
    prepare: () => new Promise((resolve) => answers.push(resolve)),
    phase: () => undefined,
    error: assert.fail,
    failed: () => undefined,
  });
  const ask = (): void =>
    events?.fromReflector({ type: 'prepare', request: 1, informer, verb: 'list', query: {} });
  ask();
  events?.died('reflector', new Error('died'));
  await turns();
  assert.deepEqual(sent, ['start', 'succeed reflector', 'start']);
  ask();
  const prepared = { connection: { server: 'https://kubernetes', headers: {} }, query: {} };
  answers[0]?.(prepared);
  await turns();
  assert.equal(sent.length, 3, 'the number is the same, the question is not');
  answers[1]?.(prepared);
  await turns();
  assert.deepEqual(sent.at(-1), 'prepared 1');
});

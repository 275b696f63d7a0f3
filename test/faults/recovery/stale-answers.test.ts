/** Answers to requests of a reflector that has ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorMessage } from '../../../src/base/errors.ts';
import type { Backend, BackendEvents } from '../../../src/informer/threads/backend.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import type { KubeList, ListerWatcher } from '../../../src/kube/lister-watcher.ts';
import { allocateActivity } from '../../../src/shared/activity.ts';
import type { PipelineClient } from '../../../src/informer/threads/attachments.ts';
import type { FromReflectorThread, ReflectorSpec, ToReflectorThread } from '../../../src/shared/protocol.ts';
import type { ConnectionOptions } from '../../../src/kube/connection-options.ts';
import { PLAIN } from '../../unit/indexer/shard-twin.ts';
import { turns } from '../../unit/informer/scene.ts';
import { MergingInformer } from '../../unit/replica/merge/merging-informer.ts';

/** Threads whose backend is this test; shards answer `attach` when the test calls `attached`. */
class Scene implements AsyncDisposable {
  readonly sent: string[] = [];
  readonly threads: InformerThreads;
  /** Informers with an unanswered `attach`. */
  readonly asked: number[] = [];
  /** Messages about informers to forget, with the number of the threads. */
  readonly detached: (readonly [threads: number, informer: number])[] = [];
  #generation = 0;
  #events: BackendEvents | undefined;

  constructor() {
    const backend: Backend = {
      isThreaded: false,
      askForHeartbeats: () => undefined,
      end: () => Promise.resolve(),
      toReflector: (message) => this.sent.push(wordsOf(message)),
      toShard: (_shard, message) => {
        if (message.type === 'attach') this.asked.push(message.informer);
      },
      publishUsage: () => undefined,
      unref: () => undefined,
      close: () => Promise.resolve(),
    };
    this.threads = new InformerThreads(
      { indexerThreads: 0 },
      {
        backend: (_memory, given) => {
          this.#events = given;
          this.sent.push('new threads');
          const generation = ++this.#generation;
          const toShard: Backend['toShard'] = (shard, message) => {
            if (message.type === 'detach') this.detached.push([generation, message.informer]);
            else backend.toShard(shard, message);
          };
          return { ...backend, toShard };
        },
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.threads.close();
  }

  async attach(parts: Partial<PipelineClient>, signal?: AbortSignal): Promise<number> {
    const client = {
      merge: new MergingInformer().merge,
      shardSpec: PLAIN,
      reflectorSpec: {} as ReflectorSpec,
      phase: () => undefined,
      error: assert.fail,
      counters: allocateActivity(),
      activity: () => undefined,
      failed: () => undefined,
      ...parts,
    };
    const informer = await this.threads.attach(client, signal);
    assert.ok(informer !== undefined);
    return informer;
  }

  /** Answers all pending `attach` messages of shards. */
  attached(error?: ErrorMessage): void {
    for (const informer of this.asked.splice(0))
      this.#events?.fromShard(0, { type: 'attached', informer, ...(error && { error }) });
  }

  fromReflector(message: FromReflectorThread): void {
    this.#events?.fromReflector(message);
  }

  died(): void {
    this.#events?.died('reflector', new Error('died'));
  }
}

function wordsOf(message: ToReflectorThread): string {
  if (message.type === 'feed') return `${message.part} ${message.request}`;
  return message.type === 'prepared' ? `prepared ${message.request}` : message.type;
}

test('C174 credentials that a dead reflector requested do not reach the next', async () => {
  await using scene = new Scene();
  const answers: ((connection: ConnectionOptions) => void)[] = [];
  const attaching = scene.attach({ connect: () => new Promise((resolve) => answers.push(resolve)) });
  scene.attached();
  const informer = await attaching;
  const ask = (): void =>
    scene.fromReflector({ type: 'prepare', request: 1, informer, verb: 'list', query: {} });
  ask();
  scene.died();
  await turns();
  scene.attached();
  assert.deepEqual(scene.sent, ['new threads', 'start', 'new threads', 'start']);
  ask();
  const connection = { server: 'https://kubernetes', headers: {} };
  answers[0]?.(connection);
  await turns();
  assert.equal(scene.sent.length, 4, 'the number is the same, but the request is not');
  answers[1]?.(connection);
  await turns();
  assert.deepEqual(scene.sent.at(-1), 'prepared 1');
});

type Lists = ((list: KubeList<unknown>) => void)[];

/** Returns a source whose lists wait in `lists`. */
function waitingSource(lists: Lists): ListerWatcher<unknown> {
  return {
    list: () => new Promise((resolve) => lists.push(resolve)),
    watch: () => Promise.reject(new Error('not asked for')),
  };
}

const LIST: KubeList<unknown> = { metadata: { resourceVersion: '1' }, items: [] };

test('C174 a list that a dead reflector requested from a ListerWatcher does not reach the next', async () => {
  await using scene = new Scene();
  const lists: Lists = [];
  const attaching = scene.attach({ listerWatcher: waitingSource(lists) });
  scene.attached();
  const informer = await attaching;
  const ask = (): void =>
    scene.fromReflector({ type: 'feed', informer, request: 1, part: 'open', path: '/pods?limit=1' });
  ask();
  scene.died();
  await turns();
  scene.attached();
  assert.deepEqual(scene.sent, ['new threads', 'start', 'new threads', 'start']);
  ask();
  lists[0]?.(LIST);
  await turns();
  assert.equal(scene.sent.length, 4, 'the number is the same, but the request is not');
  lists[1]?.(LIST);
  await turns();
  assert.deepEqual(scene.sent.slice(4), ['head 1', 'data 1', 'end 1']);
});

test('C174 an informer that was starting when its reflector died gets answers of its ListerWatcher', async () => {
  await using scene = new Scene();
  const lists: Lists = [];
  const attaching = scene.attach({ listerWatcher: waitingSource(lists) });
  scene.died();
  await turns();
  scene.attached();
  const informer = await attaching;
  scene.fromReflector({ type: 'feed', informer, request: 1, part: 'open', path: '/pods?limit=1' });
  lists[0]?.(LIST);
  await turns();
  assert.deepEqual(scene.sent, ['new threads', 'new threads', 'start', 'head 1', 'data 1', 'end 1']);
});

test('C173 an informer can stop before new shards have accepted it, and is not started', async () => {
  await using scene = new Scene();
  const attaching = scene.attach({ connect: () => Promise.reject(new Error('not asked for')) });
  scene.attached();
  const informer = await attaching;
  scene.died();
  await turns();
  await scene.threads.detach(informer);
  scene.attached();
  assert.deepEqual(scene.sent, ['new threads', 'start', 'new threads']);
});

test('C175 an informer whose modules new shards cannot load ends with the error', async () => {
  await using scene = new Scene();
  const failures: string[] = [];
  const connect = (): Promise<never> => Promise.reject(new Error('not asked for'));
  const attaching = scene.attach({ connect, failed: (error) => failures.push(error.code) });
  scene.attached();
  await attaching;
  scene.died();
  await turns();
  scene.attached({ code: 'ERR_KUBELOOM_MODULE', message: 'gone' });
  assert.deepEqual(failures, ['ERR_KUBELOOM_MODULE']);
  assert.deepEqual(scene.sent, ['new threads', 'start', 'new threads']);
});

test('C173 an informer that stops while it attaches to new threads leaves nothing in them', async () => {
  await using scene = new Scene();
  const stop = new AbortController();
  // It has no number.
  const ended = assert.rejects(scene.attach({ restarted: () => stop.abort() }, stop.signal), {
    code: 'ERR_ASSERTION',
  });
  scene.died();
  await turns();
  await ended;
  assert.deepEqual(scene.detached, [[2, 1]]);
});

/**
 * Scenes of the contract's tests, on the threads and with the codec of this process's configuration, which the runner
 * (run.ts) sets in the environment. All tests of a file share an `InformerThreads`. The last test of every file reads
 * the statistics of these threads, because a configuration counts only if they show it.
 */
import assert from 'node:assert/strict';
import { after, test as register } from 'node:test';
import type { EmbeddedApiServerOptions } from '../../src/tools/apiserver/testing/index.ts';
import { InformerThreads } from '../../src/index.ts';
import type { Codec, ThreadsOptions } from '../../src/index.ts';
import type { ThreadsParts } from '../../src/informer/threads/backend.ts';
import { READ_BYTES, WORK_MAX } from '../../src/informer/threads/backend-step.ts';
import { InProcessBackend } from '../../src/informer/threads/in-process-backend.ts';
import { Scene } from '../kit/scene.ts';
import { EVIDENCE_TITLE, RUNS, THREADS_OF } from './configuration-names.ts';
import type { CodecName, ConfigurationName } from './configuration-names.ts';

export * from '../kit/objects.ts';
export * from '../kit/recording-handler.ts';
export * from '../kit/scene.ts';

const run = process.env['KUBELOOM_CONTRACT'] ?? 'twin:json';
assert.ok(
  RUNS.some((name) => name === run),
  `KUBELOOM_CONTRACT: ${run}`,
);
const [CONFIGURATION, CODEC_NAME] = run.split(':') as [ConfigurationName, CodecName];
export const THREADS: number | 'auto' = THREADS_OF[CONFIGURATION];
export const CODEC: Codec = CODEC_NAME;

let shared: Promise<InformerThreads> | undefined;

/** The first read counts as many changes. */
const CHANGING: ThreadsParts = {
  cores: 2,
  backend: (memory, events, wake) => {
    const read = (): void => events.read?.(WORK_MAX * READ_BYTES, false);
    return new InProcessBackend(memory, { ...events, read }, wake);
  },
};

/** The twin packs every object as early as possible, which must change no result. */
const PACKING: readonly [ThreadsOptions, ThreadsParts] =
  CONFIGURATION === 'twin'
    ? [{ compressAfterMs: 1 }, { packBytesMin: 0 }]
    : [{}, CONFIGURATION === 'changing' ? CHANGING : {}];

async function newThreads(options: ThreadsOptions = {}): Promise<InformerThreads> {
  const [packing, parts] = PACKING;
  // A test of packing packs all objects, whenever they arrive.
  const packAll = options.compressAfterMs === undefined ? parts : { ...parts, packBytesMin: 0 };
  const threads = new InformerThreads({ indexerThreads: THREADS, ...packing, ...options }, packAll);
  if (CONFIGURATION === 'changing') await change(threads);
  return threads;
}

/** Lets an informer read, and the backend change. The difference that handlers receive by a change is a relist's. */
async function change(threads: InformerThreads): Promise<void> {
  await using scene = await Scene.start({ server: { tls: false, isolation: 'none' }, threads });
  await scene.watching();
  await scene.until(() =>
    threads.stats().some(({ role, cpuMs }) => role === 'reflector' && cpuMs !== undefined),
  );
}

function sharedThreads(): Promise<InformerThreads> {
  return (shared ??= newThreads());
}

/** Number of keys with which every shard holds a key, whatever the hash. */
const KEYS_FOR_ALL_SHARDS = 50;

/** Registers the last test of a file, which checks that the configuration was used. */
export function configurationWasUsed(): void {
  register(`${EVIDENCE_TITLE} the configuration ${CONFIGURATION} with ${CODEC}`, async () => {
    const threads = await sharedThreads();
    const stats = threads.stats();
    const roles = Array.from({ length: threads.shards }, (_, shard) => `shard ${shard}`);
    assert.deepEqual(
      stats.map(({ role }) => role),
      ['reflector', ...roles, 'main'],
    );
    assert.equal(threads.options.indexerThreads, THREADS);
    // The roles of the calling thread have no CPU time of their own.
    assert.equal(stats[0]?.cpuMs === undefined, THREADS === 0);
    const total = stats[0]?.deltas ?? 0;
    const shards = stats.slice(1, -1);
    // A control record counts in all shards, an object in a single shard; so compare without control records.
    const sum = shards.reduce((before, { deltas }) => before + deltas, 0);
    const controls = shards.length > 1 ? (sum - total) / (shards.length - 1) : 0;
    assert.ok(total > controls, 'the reflector has read objects');
    // A shard that was replaced, as on a machine that stalls, has counted records twice.
    const isOnce = stats.every(({ restarts }) => restarts === 0);
    for (const { role, deltas } of shards) {
      if (isOnce && Scene.keysOf(threads).size >= KEYS_FOR_ALL_SHARDS)
        assert.ok(deltas > controls, `${role} has worked on objects: ${JSON.stringify(stats)}`);
    }
    assert.equal(stats.at(-1)?.deltas, total, 'the main thread has merged everything');
  });
  after(async () => (await shared)?.close());
}

interface StartOptions {
  readonly server?: EmbeddedApiServerOptions;
  readonly threads?: ThreadsOptions;
}

/** Starts a scene on the file's threads, or on separate threads for tests that need other sizes or end the threads. */
export async function start({ server, threads }: StartOptions = {}): Promise<Scene> {
  const own = threads && (await newThreads(threads));
  const scene = await Scene.start({
    server: { tls: false, isolation: 'none', ...server },
    threads: own ?? (await sharedThreads()),
    codec: CODEC,
  });
  if (own) scene.ends(own);
  return scene;
}

/** Registers a test. A body with a parameter receives a started scene; a body without a parameter starts its own. */
export function test(title: string, body: (scene: Scene) => Promise<void>): void {
  register(title, async () => {
    await using scene = body.length === 0 ? undefined : await start();
    await body(scene as Scene);
  });
}

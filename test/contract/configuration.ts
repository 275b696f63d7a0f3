/**
 * Which configuration of the pipeline this process proves: the runner (run.ts) says so in the environment.
 * All tests of a file share one `InformerThreads`; the last test of every file asks these threads what they
 * have done, because a configuration counts only if its statistics show it.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { InformerThreads } from '../../src/index.ts';
import type { Codec, ThreadsOptions } from '../../src/index.ts';
import type { ThreadsParts } from '../../src/threads/threads-parts.ts';
import { EVIDENCE_TITLE, THREADS_OF } from './configuration-names.ts';
import type { ConfigurationName } from './configuration-names.ts';

const name = process.env['KUBELOOM_CONTRACT'] ?? 'twin';
const codecName = process.env['KUBELOOM_CODEC'] ?? 'json';
assert.ok(Object.hasOwn(THREADS_OF, name), `KUBELOOM_CONTRACT: ${name}`);
assert.ok(codecName === 'json' || codecName === 'msgpack', `KUBELOOM_CODEC: ${codecName}`);

export const CONFIGURATION: ConfigurationName = name as ConfigurationName;
export const THREADS: number = THREADS_OF[CONFIGURATION];
export const CODEC: Codec = codecName;

let shared: InformerThreads | undefined;
/** Keys that the tests of this file have put on the server. */
let keys = 0;

/** In one configuration everything is packed as soon as it can be: nobody may notice. */
const PACKING: readonly [ThreadsOptions, ThreadsParts] =
  CONFIGURATION === 'twin' ? [{ packAfterMs: 1 }, { packBytesMin: 0 }] : [{}, {}];

export function newThreads(options: ThreadsOptions = {}): InformerThreads {
  const [packing, parts] = PACKING;
  return new InformerThreads({ threads: THREADS, ...packing, ...options }, parts);
}

export function sharedThreads(): InformerThreads {
  return (shared ??= newThreads());
}

export function countKeys(count: number): void {
  keys += count;
}

/** With so many keys no shard can be without one, whatever the hash does. */
const KEYS_FOR_ALL_SHARDS = 50;

/** Registers the last test of a file. */
export function configurationWasUsed(): void {
  test(`${EVIDENCE_TITLE} the configuration ${CONFIGURATION} with ${CODEC}`, async () => {
    const threads = sharedThreads();
    const stats = await threads.stats();
    const roles = Array.from({ length: Math.max(1, THREADS) }, (_, shard) => `shard ${shard}`);
    assert.deepEqual(
      stats.map(({ role }) => role),
      ['reflector', ...roles, 'main'],
    );
    assert.equal(threads.options.threads, THREADS);
    const total = stats[0]?.deltas ?? 0;
    const shards = stats.slice(1, -1);
    // An object goes to one shard and a control record to all: only what is left without those is proof.
    const sum = shards.reduce((before, { deltas }) => before + deltas, 0);
    const controls = shards.length > 1 ? (sum - total) / (shards.length - 1) : 0;
    assert.ok(total > controls, 'the reflector has read objects');
    for (const { role, deltas } of shards) {
      if (keys >= KEYS_FOR_ALL_SHARDS) assert.ok(deltas > controls, `${role} has worked on objects`);
    }
    assert.equal(stats.at(-1)?.deltas, total, 'the main thread has merged everything');
  });
  after(() => shared?.close());
}

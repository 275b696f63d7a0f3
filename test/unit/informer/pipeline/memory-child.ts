/**
 * A process with one informer whose memory is watched from outside: `node memory-child.js KUBECONFIG SCENARIO`.
 * Every line on stdin is a question, answered by one JSON line with what the process uses right now.
 *
 * Scenarios: `behind` a handler stops for 10 s and goes on; `held` a user keeps 1,000 entries; `stuck` a handler
 * never returns from its first change; `plain` nothing special; `packed` the same, and what does not change is packed.
 */
import { createInterface } from 'node:readline';
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../../../src/index.ts';
import type { CachedObject } from '../../../../src/index.ts';
import { PODS } from '../../../kit/objects.ts';

const [, , kubeconfigPath = '', scenario = 'plain'] = process.argv;
const BEHIND_MS = 10_000;
const HELD_ENTRIES = 1000;
const SYNC_TIMEOUT_MS = 30_000;

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(kubeconfigPath);
const threads = new InformerThreads({
  // Full, and resident, after the warm-up however busy the machine is: what grows later is growth.
  logBytes: 16 * 2 ** 20,
  // The handler that never returns is to cost all that it is owed.
  backlogBytesMax: 16 * 2 ** 30,
  // Who asks how memory grows must not ask first when much was just given back.
  ...(scenario === 'packed' ? {} : { compressAfterMs: Infinity }),
});
const informer = new SharedIndexInformer(kubeConfig, PODS, { threads, debug: { retainChecks: 'off' } });
const held: CachedObject<unknown>[] = [];
let steadyUpdates = 0;
let otherUpdates = 0;

informer.addEventHandler({ onUpdate: () => void steadyUpdates++ });
const other = informer.addEventHandler({
  onUpdate: (_previous, current) => {
    otherUpdates++;
    if (scenario === 'held' && held.length < HELD_ENTRIES) held.push(current.retain());
    if (scenario === 'behind' && otherUpdates === 1) return new Promise((go) => setTimeout(go, BEHIND_MS));
    if (scenario === 'stuck') return new Promise(() => undefined);
    return undefined;
  },
});

const run = informer.run();
await informer.waitForSync({ signal: AbortSignal.timeout(SYNC_TIMEOUT_MS), registration: other });

for await (const question of createInterface({ input: process.stdin })) {
  if (question === 'end') break;
  globalThis.gc?.();
  const answer = {
    rssBytes: process.memoryUsage().rss,
    steadyUpdates,
    otherUpdates,
    backlog: other.backlog,
    resourceVersion: informer.lastSyncResourceVersion(),
    heldAreReadable: held.every((entry) => entry.object !== undefined),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await informer[Symbol.asyncDispose]();
await run;
await threads.close();

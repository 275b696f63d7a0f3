/**
 * One kubeloom informer on the high-rate source, as a process of its own: `node watch-client.js URL EVENTS`.
 * Its one handler touches the key. Prints one JSON line with what `watch.ts` compares.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../src/index.ts';

const [, , url = '', eventsText = ''] = process.argv;
const events = Number(eventsText);
const kubeConfig = new KubeConfig();
kubeConfig.loadFromOptions({
  clusters: [{ name: 'source', server: url, skipTLSVerify: true }],
  users: [{ name: 'bench' }],
  contexts: [{ name: 'bench', cluster: 'source', user: 'bench' }],
  currentContext: 'bench',
});
const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true };
const threads = new InformerThreads();
const informer = new SharedIndexInformer(kubeConfig, pods, { threads, lifetimes: 'fast' });
let updates = 0;
let keyCharacters = 0;
let firstAt = 0;
let cpuBefore = process.cpuUsage();
const elapsedMs = await new Promise<number>((resolve) => {
  informer.addEventHandler({
    onUpdate: (_previous, current) => {
      if (updates === 0) {
        firstAt = performance.now();
        cpuBefore = process.cpuUsage();
      }
      keyCharacters += current.key.length;
      if (++updates === events) resolve(performance.now() - firstAt);
    },
  });
  void informer.run();
});
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(
  JSON.stringify({ events: updates, elapsedMs, cpuMs: (user + system) / 1000, keyCharacters }),
);
await informer[Symbol.asyncDispose]();
await threads.close();

/**
 * Reads `object` of every cached pod: `node --max-old-space-size=512 full-scan-child.js
 * KUBECONFIG`. Prints how many it read and whether each has a container.
 */
import { KubeConfig } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../../src/index.ts';
import { PODS } from '../../../kit/objects.ts';

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.argv[2] ?? '');
const informer = new SharedIndexInformer<V1Pod>(kubeConfig, PODS);
const run = informer.run();
await informer.waitForSync();
let read = 0;
let containers = 0;
for (const entry of informer.getStore().list()) {
  read++;
  containers += entry.object.spec?.containers.length ?? 0;
}
await informer[Symbol.asyncDispose]();
await run;
process.stdout.write(JSON.stringify({ read, hasContainers: containers >= read }));

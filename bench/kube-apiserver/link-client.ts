/** An informer of pods behind a link: `node link-client.js SERVER CA-FILE TOKEN FORM`. It prints its figures when it has synced. */
import { readFileSync } from 'node:fs';
import { SharedIndexInformer, resources } from '../../src/index.ts';
import { LABEL } from './links-figures.ts';
import type { ClientFigures, Form } from './links-figures.ts';
import { memoryOf } from './memory-of-process.ts';

const [server = '', caFile = '', token = '', given] = process.argv.slice(2);
const form = given as Form;
const source = { server, token, ca: readFileSync(caFile, 'utf8') };
const beforeCpu = process.cpuUsage();
const startMs = performance.now();
await using informer = new SharedIndexInformer(source, resources.core.v1.pods, {
  labelSelector: LABEL,
  compression: form === 'LIST in gzip' ? 'on' : 'off',
  list: { watchList: form === 'streaming list' ? 'auto' : 'off' },
});
void informer.run();
await informer.waitForSync();
const { user, system } = process.cpuUsage(beforeCpu);
const figures: ClientFigures = {
  durationMs: performance.now() - startMs,
  cpuMs: (user + system) / 1000,
  peakBytes: memoryOf(process.pid).peakBytes,
  objects: informer.stats().objects,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);

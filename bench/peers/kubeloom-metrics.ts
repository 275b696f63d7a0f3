/**
 * The price of kubeloom's metrics: `node kubeloom-metrics.js TASK`. Variants take turns in the same watch
 * (sections.ts). With `informers` the case is the duration of scrapes of so many running informers.
 */
import { setTimeout as after } from 'node:timers/promises';
import { threadCpuMs } from '../../src/base/thread-cpu.ts';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import { prometheusText } from '../../src/metrics/index.ts';
import type { KubeObject } from '../../src/index.ts';
import type { OutcomeRow, Task } from '../task.ts';
import { connectionTo, resourceRef, resourcesOf } from './connection.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import { median, variantRows } from './sections.ts';
import type { Variant, VariantRows } from './sections.ts';

type Informer = SharedIndexInformer<KubeObject>;

/** The other variants are compared with the first. */
const VARIANTS: readonly Variant[] = [
  { name: 'not scraped' },
  { name: 'a scrape a second', inMiddle: () => void (readBytes += Buffer.from(prometheusText()).length) },
  { name: 'calls timed', options: { measureDuration: true } },
];

const SCRAPES = 200;
const SCRAPE_PAUSE_MS = 10;

/** Sum of the lengths of the scrapes within sections. */
let readBytes = 0;

async function run(task: Task): Promise<Result> {
  const threads = new InformerThreads();
  const informers = resourcesOf(task).map(
    (resource) => new SharedIndexInformer<KubeObject>(connectionTo(task), resourceRef(resource), { threads }),
  );
  const failed = Promise.all(informers.map((informer) => informer.run())).then(() => {
    throw new Error('an informer has stopped');
  });
  const [first] = informers;
  const measure =
    task.informers === undefined && first
      ? variantRows(first, VARIANTS, task.cellMs)
      : scrapes(informers, task.cellMs === undefined ? SCRAPES : 2);
  const { rows, checksum } = await Promise.race([measure, failed]);
  return { rows, checksum: checksum + readBytes, shards: threads.shards };
}

/** The first scrape runs code that is not compiled. */
async function scrapes(informers: readonly Informer[], count: number): Promise<VariantRows> {
  for (const informer of informers) informer.addEventHandler({ onAdd: () => undefined }, { name: 'bench' });
  await Promise.all(informers.map((informer) => informer.waitForSync()));
  const durationsMs: number[] = [];
  // A busy machine does not change it.
  const cpusMs: number[] = [];
  let bytes = 0;
  for (let done = 0; done < count; done++) {
    await after(SCRAPE_PAUSE_MS);
    const cpuBeforeMs = threadCpuMs() ?? 0;
    const startedAtMs = performance.now();
    const text = prometheusText();
    durationsMs.push(performance.now() - startedAtMs);
    cpusMs.push((threadCpuMs() ?? 0) - cpuBeforeMs);
    bytes = Buffer.byteLength(text);
  }
  const [first = Number.NaN] = durationsMs;
  const rows: OutcomeRow[] = [
    { case: 'scrape/p50', unit: 'ms', value: median(durationsMs) },
    { case: 'scrape/max', unit: 'ms', value: Math.max(...durationsMs) },
    { case: 'scrape/first', unit: 'ms', value: first },
    { case: 'scrape/cpu p50', unit: 'ms', value: median(cpusMs) },
    { case: 'scrape', unit: 'bytes', value: bytes },
  ];
  return { rows, checksum: bytes };
}

await runProgram('kubeloom', packageVersion(import.meta.url), run);

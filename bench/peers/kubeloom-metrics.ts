/**
 * The price of kubeloom's metrics: `node kubeloom-metrics.js TASK`. One watch at full rate has a handler whose variant
 * changes in turn within one process, so that changes of the machine's speed and the compiled code are the same for all.
 * With `informers` the case is the duration of scrapes of so many running informers.
 */
import { setTimeout as after } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { threadCpuMs } from '../../src/base/thread-cpu.ts';
import { InformerThreads, SharedIndexInformer, prometheusText } from '../../src/index.ts';
import type { HandlerOptions, KubeObject } from '../../src/index.ts';
import { summarise } from '../statistics.ts';
import type { OutcomeRow, Task } from '../task.ts';
import { loadKubeConfig, resourceRef, resourcesOf } from './connection.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';

type Informer = SharedIndexInformer<KubeObject>;

interface Variant {
  readonly name: string;
  readonly isScraped: boolean;
  readonly options: HandlerOptions;
}

/** The others are compared with the first one. */
const VARIANTS: readonly Variant[] = [
  { name: 'not scraped', isScraped: false, options: {} },
  { name: 'a scrape a second', isScraped: true, options: {} },
  { name: 'calls timed', isScraped: false, options: { measureDuration: true } },
];

/** Turns of all variants, every second one in the opposite order. */
const TURNS = 10;
/** A section has one scrape, in its middle. */
const SECTION_MS = 1000;
/** Time of a new handler before its section, as a share of it. */
const SETTLE_SHARE = 0.2;
const SCRAPES = 200;
const SCRAPE_PAUSE_MS = 10;

/** Sum of the lengths of all keys and scrapes. */
let readBytes = 0;

async function run(task: Task): Promise<Result> {
  const config = loadKubeConfig(new KubeConfig(), task);
  const threads = new InformerThreads();
  const informers = resourcesOf(task).map(
    (resource) =>
      new SharedIndexInformer<KubeObject>(config, resourceRef(resource), { threads, borrowChecks: 'off' }),
  );
  const failed = Promise.all(informers.map((informer) => informer.run())).then(() => {
    throw new Error('an informer has stopped');
  });
  const [first] = informers;
  const isSmoke = task.cellMs !== undefined;
  const measure =
    task.informers === undefined && first
      ? variants(first, isSmoke ? 1 : TURNS, task.cellMs ?? SECTION_MS)
      : scrapes(informers, isSmoke ? 2 : SCRAPES);
  const rows = await Promise.race([measure, failed]);
  return { rows, checksum: readBytes, shards: threads.shards };
}

interface Section {
  readonly rate: number;
  readonly cpuUs: number;
}

async function variants(informer: Informer, turns: number, sectionMs: number): Promise<OutcomeRow[]> {
  await informer.waitForSync();
  const sections = new Map<Variant, Section[]>(VARIANTS.map((variant) => [variant, []]));
  // The first turn compiles the code.
  for (let turn = -1; turn < turns; turn++) {
    for (const variant of turn % 2 === 0 ? VARIANTS : VARIANTS.toReversed()) {
      const measured = await section(informer, variant, sectionMs);
      if (turn >= 0) sections.get(variant)?.push(measured);
    }
  }
  const [base] = [...sections.values()];
  return [...sections].flatMap(([{ name }, own]) => [
    { case: name, unit: 'events/s', value: median(own.map(({ rate }) => rate)) },
    { case: name, unit: 'cpu-us/event', value: median(own.map(({ cpuUs }) => cpuUs)) },
    ...(own === base || !base ? [] : ratios(name, own, base)),
  ]);
}

/** Ratios within each turn, whose sections saw the same machine. */
function ratios(name: string, own: readonly Section[], base: readonly Section[]): OutcomeRow[] {
  const ratio = (figure: 'rate' | 'cpuUs'): number =>
    median(own.map((each, turn) => each[figure] / (base[turn]?.[figure] ?? Number.NaN)));
  return [
    { case: `${name}/events/s`, unit: 'ratio', value: ratio('rate') },
    { case: `${name}/cpu`, unit: 'ratio', value: ratio('cpuUs') },
  ];
}

async function section(informer: Informer, { isScraped, options }: Variant, ms: number): Promise<Section> {
  const received = { events: 0 };
  let isFlowing: () => void = () => {};
  const flowing = new Promise<void>((resolve) => (isFlowing = resolve));
  const onUpdate = (_previous: unknown, { key }: { readonly key: string }): void => {
    if (received.events++ === 0) isFlowing();
    readBytes += key.length;
  };
  const registration = informer.addEventHandler({ onUpdate }, options);
  await flowing;
  await after(ms * SETTLE_SHARE);
  const before = received.events;
  const cpuBefore = process.cpuUsage();
  const startedAtMs = performance.now();
  await after(ms / 2);
  if (isScraped) readBytes += Buffer.from(prometheusText()).length;
  do await after(ms / 2);
  while (received.events === before);
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const measured = received.events - before;
  informer.removeEventHandler(registration);
  return { rate: (measured / elapsedMs) * 1000, cpuUs: (user + system) / measured };
}

/** The first scrape runs code that is not compiled. */
async function scrapes(informers: readonly Informer[], count: number): Promise<OutcomeRow[]> {
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
  return [
    { case: 'scrape/p50', unit: 'ms', value: median(durationsMs) },
    { case: 'scrape/max', unit: 'ms', value: Math.max(...durationsMs) },
    { case: 'scrape/first', unit: 'ms', value: first },
    { case: 'scrape/cpu p50', unit: 'ms', value: median(cpusMs) },
    { case: 'scrape', unit: 'bytes', value: bytes },
  ];
}

function median(values: readonly number[]): number {
  return summarise(values)?.median ?? Number.NaN;
}

await runProgram('kubeloom', packageVersion(import.meta.url), run);

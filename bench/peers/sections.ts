/**
 * Sections of a watch at full rate, each with a separate key handler. Variants take turns within the same process, so
 * that the machine's speed and the compiled code are the same for all.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { HandlerOptions, KubeObject, SharedIndexInformer } from '../../src/index.ts';
import { summarise } from '../statistics.ts';
import type { OutcomeRow } from '../task.ts';

export interface Variant {
  readonly name: string;
  readonly options?: HandlerOptions;
  /** Runs before a section; returns what runs after it. */
  readonly begin?: () => Promise<() => Promise<void>>;
  /** Runs in the middle of a section. */
  readonly inMiddle?: () => void;
}

/** Turns of all variants, every second turn in the opposite order. */
const TURNS = 10;
const SECTION_MS = 1000;
/** Time of a new handler before the section, as a share of the section. */
const SETTLE_SHARE = 0.2;

interface Section {
  readonly rate: number;
  readonly cpuUs: number;
}

/** Sum of the lengths of all keys that the handlers read. */
let readBytes = 0;

export interface VariantRows {
  readonly rows: OutcomeRow[];
  readonly checksum: number;
}

/**
 * Returns the rates and CPU times of each variant, and their ratios to the first variant.
 *
 * @param smokeMs duration of a section in a smoke, which is a single turn
 */
export async function variantRows(
  informer: SharedIndexInformer<KubeObject>,
  variants: readonly Variant[],
  smokeMs: number | undefined,
): Promise<VariantRows> {
  await informer.waitForSync();
  const turns = smokeMs === undefined ? TURNS : 1;
  const sections = new Map<Variant, Section[]>(variants.map((variant) => [variant, []]));
  // The first turn compiles the code.
  for (let turn = -1; turn < turns; turn++) {
    for (const variant of turn % 2 === 0 ? variants : variants.toReversed()) {
      const end = await variant.begin?.();
      const measured = await section(informer, variant, smokeMs ?? SECTION_MS);
      await end?.();
      if (turn >= 0) sections.get(variant)?.push(measured);
    }
  }
  const [base] = [...sections.values()];
  const rows = [...sections].flatMap(([{ name }, own]): OutcomeRow[] => [
    { case: name, unit: 'events/s', value: median(own.map(({ rate }) => rate)) },
    { case: name, unit: 'cpu-us/event', value: median(own.map(({ cpuUs }) => cpuUs)) },
    ...(own === base || !base ? [] : ratios(name, own, base)),
  ]);
  return { rows, checksum: readBytes };
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

async function section(
  informer: SharedIndexInformer<KubeObject>,
  { inMiddle, options }: Variant,
  ms: number,
): Promise<Section> {
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
  inMiddle?.();
  do await after(ms / 2);
  while (received.events === before);
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const measured = received.events - before;
  informer.removeEventHandler(registration);
  return { rate: (measured / elapsedMs) * 1000, cpuUs: (user + system) / measured };
}

export function median(values: readonly number[]): number {
  return summarise(values)?.median ?? Number.NaN;
}

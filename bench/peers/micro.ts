/** Single parts of kubeloom, in operations a second: `node micro.js TASK`. The parts are in micro-parts.ts. */
import { Bench } from 'tinybench';
import type { OutcomeRow, Task } from '../task.ts';
import { Meter } from './meter.ts';
import { MICRO_PARTS } from './micro-parts.ts';
import { cacheParts } from './micro-cache.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';

const CACHED = 100_000;
const SMALL_CACHE = 1000;
const PART_MS = 300;

async function run(task: Task): Promise<Result> {
  const meter = new Meter();
  const time = task.cellMs ?? PART_MS;
  const cache = await cacheParts(task.cellMs === undefined ? CACHED : SMALL_CACHE);
  const parts = [...MICRO_PARTS, ...cache.parts];
  const bench = new Bench({ time, warmupTime: time / 3, warmupIterations: 4 });
  for (const { name, call } of parts) bench.add(name, call);
  await bench.run();
  await cache.close();
  const rows = parts.map(({ name, operations }): OutcomeRow => {
    const result = bench.getTask(name)?.result;
    if (result === undefined || !('latency' in result)) throw new Error(`${name} has no result`);
    return { case: name, value: (operations * 1000) / result.latency.mean, unit: 'events/s' };
  });
  return { ...meter.stop(), rows, checksum: rows.length };
}

await runProgram('kubeloom', packageVersion(import.meta.url), run);

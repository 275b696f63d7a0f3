/**
 * Figures at a real kube-apiserver, as tables in Markdown: `npm run suite -- figures sharding` (docs/sharding.md),
 * `npm run suite -- figures streaming` and `npm run suite -- figures watchers` (docs/benchmarks.md), `npm run suite -- figures links`.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { measureLinks } from './links.ts';
import { linksTable } from './links-figures.ts';
import { measureSharding } from './sharding.ts';
import { meansOf, tablesOf } from './sharding-figures.ts';
import { shardingPlot } from './sharding-plot.ts';
import { measureStreaming } from './streaming.ts';
import { streamingTable } from './streaming-figures.ts';
import { measureWatchers } from './watchers.ts';
import { watchersTable } from './watchers-figures.ts';

function number(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('pass a whole number of 1 or more');
  return value;
}

function numbers(text: string): number[] {
  return text.split(',').map(number);
}

function bandwidths(text: string): number[] {
  return text.split(',').map((each) => (each === '0' ? 0 : number(each)));
}

function gates(text: string): boolean[] {
  const values = text.split(',');
  if (values.some((value) => value !== 'on' && value !== 'off'))
    throw new InvalidArgumentError('pass on, off or both');
  return values.map((value) => value === 'on');
}

function print(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Returns the machine and what else it did. */
function conditions(): string {
  const load = loadavg().map((each) => each.toFixed(1));
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}, load ${load.join(' ')}`;
}

const program = new Command('npm run suite -- figures').description(
  'figures at a real kube-apiserver, which needs Go',
);
program
  .command('sharding')
  .description('sharded watches with the feature gate and without: members, server, times without an owner')
  .option('--objects <count>', 'ConfigMaps of 1 KB', number, 100_000)
  .option('--members <counts>', 'numbers of members, ascending', numbers, [1, 2, 4])
  .option('--changes <rate>', 'changes a second', number, 200)
  .option('--seconds <count>', 'for each number of members', number, 20)
  .option('--gates <states>', 'on, off', gates, [true, false])
  .option('--plot <file>', 'write an SVG of what a member takes')
  .action(async ({ objects, members, changes, seconds, gates: states, plot }) => {
    const size = { objects, members, changesPerSecond: changes, seconds };
    const { phases, gaps } = await measureSharding(size, states, print);
    if (plot !== undefined) writeFileSync(plot, shardingPlot(phases.map(meansOf)));
    console.log(`${objects} objects, ${changes} changes/s due; ${conditions()}\n\n${tablesOf(phases, gaps)}`);
  });
program
  .command('streaming')
  .description('memory of the server and of the client while informers list large objects')
  .option('--objects <count>', 'ConfigMaps', number, 100)
  .option('--bytes <count>', 'bytes of each', number, 1_000_000)
  .option('--informers <counts>', 'informers in one process', numbers, [1, 2, 4, 8, 16])
  .action(async (size) => {
    const figures = await measureStreaming(size, print);
    console.log(
      `${size.objects} objects of ${size.bytes} bytes; ${conditions()}\n\n${streamingTable(figures)}`,
    );
  });
program
  .command('links')
  .description('a first list over links, as streaming list, LIST, and LIST in gzip')
  .option('--objects <count>', 'pods', number, 10_000)
  .option('--bytes <count>', 'bytes of each, about', number, 5120)
  .option('--links <megabits>', 'megabits a second of each link; 0: no limit', bandwidths, [50, 0])
  .option('--rounds <count>', 'for each link', number, 1)
  .action(async (size) => {
    const figures = await measureLinks(size, print);
    console.log(`${size.objects} pods; ${conditions()}\n\n${linksTable(figures)}`);
  });
program
  .command('watchers')
  .description('delay of a healthy watcher beside slow watchers')
  .option('--rates <changes>', 'changes a second', numbers, [100, 1000])
  .option('--seconds <count>', 'for each row', number, 10)
  .option('--slow <count>', 'slow watchers', number, 1)
  .option('--bytes <count>', 'bytes of each object', number, 10_000)
  .action(async (size) => {
    const figures = await measureWatchers(size, print);
    console.log(
      `${size.slow} slow watchers, objects of ${size.bytes} bytes; ${conditions()}\n\n${watchersTable(figures)}`,
    );
  });
await program.parseAsync();

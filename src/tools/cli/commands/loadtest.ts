/** Flags of `kubeloom loadtest`. */
import { Command, Option } from 'commander';
import { CLIENTS } from '../../loadtest/workload/workload.ts';
import type { WatcherClient } from '../../loadtest/workload/workload.ts';
import { PRESETS } from '../../loadtest/workload/presets.ts';
import { parseCount, parseSeconds, parseThreads } from '../arguments.ts';
import { withCluster } from '../cluster-flags.ts';
import type { ClusterFlags } from '../cluster-flags.ts';
import type { IndexFlags } from '../loadtest/loadtest-indexes.ts';

/** The argument that is neither a file nor a preset. */
export const COLLECT = 'collect';
export const SEED_MAX: number = 2 ** 32 - 1;

const HELP = `
A workload is a YAML file, or one of the presets ${PRESETS.join(', ')}; --print prints it.
Without one the flags are the workload: ConfigMaps, informers of all of them, one rate.
Everything is written in namespaces of its own, which are removed afterwards. The context is printed first; without
--yes nothing is sent unless it is a kind-… or kubeloom-… context whose server is a loopback address.
In an Indexed Job each pod has --run NAME --indexes COUNT; collect --run NAME waits for their end, and is the result.
Exit code 0: every write reached every watcher once, in order, or was covered by a relist, and the caches equal a
LIST. 1: not so, or the test could not be done. 2: nothing can be said, because writes failed, or generator, server
or client were saturated. 3: a threshold of the workload was missed. 130, 143: interrupted.`;

const parseObjects = parseCount('--objects', 1, 1_000_000);
const parseRate = parseCount('--rate', 1, 100_000);
const parseObjectBytes = parseCount('--object-bytes', 1, 512 * 1024);
const parseSeed = parseCount('--seed', 0, SEED_MAX);
const parseInformers = parseCount('--informers', 1, 100);
const parseIndexes = parseCount('--indexes', 1, 1000);

export interface LoadTestFlags extends IndexFlags, ClusterFlags {
  readonly objects?: number;
  readonly objectBytes?: number;
  readonly rate?: number;
  readonly duration?: number;
  readonly informers?: number;
  readonly threads?: number;
  readonly seed?: number;
  readonly client?: WatcherClient;
  readonly print?: boolean;
  readonly compare?: readonly string[];
  readonly yes?: boolean;
  readonly allowRestart?: boolean;
}

export function loadTestCommand(
  run: (workload: string | undefined, flags: LoadTestFlags) => Promise<void>,
): Command {
  const command = new Command('loadtest')
    .description('write to a cluster and check that watchers receive every write')
    .argument('[workload]', `a workload file, a preset, or the word ${COLLECT}`)
    .addHelpText('after', HELP);
  return withCluster(command)
    .option('--objects <count>', 'ConfigMaps at the start (default: 10000)', parseObjects)
    .option('--object-bytes <bytes>', 'data in each of them (default: 1024)', parseObjectBytes)
    .option('--rate <rate>', 'writes a second, in open loop (default: 500)', parseRate)
    .option('--duration <seconds>', 'how long (default: 60)', parseSeconds)
    .option('--informers <count>', 'informers that watch them (default: 2)', parseInformers)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option(
      '--seed <number>',
      'seed of the writes; default: that of the workload, or a random one',
      parseSeed,
    )
    .addOption(
      new Option('--client <client>', 'client of all watchers, for comparisons').choices([...CLIENTS]),
    )
    .option('--print', 'print the workload and do nothing else')
    .option('--json [file]', 'write the result as one JSON object; without a file on stdout')
    .option('--html <file>', 'write the result as a page that needs no network')
    .option('--junit <file>', 'write the result as JUnit XML')
    .option('--compare <files...>', 'compare two files of --json, as text and with --html as a page')
    .option('--run <name>', 'name of a run of several indexes, for all of them and for collect')
    .option('--indexes <count>', 'be one of so many indexes; $JOB_COMPLETION_INDEX says which', parseIndexes)
    .option('--yes', 'write to this context although it is not known to be a throwaway cluster')
    .option('--allow-restart', 'run the commands of server-restart phases')
    .action(run);
}

/** `kubeloom loadtest`: puts a load on a throwaway cluster, and checks that informers deliver every write. */
import { randomInt } from 'node:crypto';
import { Command } from 'commander';
import { defaultThreads, loadKubeConfig } from '../index.ts';
import { parseCount, parseSeconds, parseThreads } from './arguments.ts';
import { EXIT_CODES } from './demo-report.ts';
import type { LoadTestFlags } from './flags.ts';
import type { LoadTestPlan } from './loadtest-plan.ts';
import { conclude, reportText, verdictText } from './loadtest-report.ts';
import { targetOf, targetText, wantTarget } from './loadtest-target.ts';
import { progressOn } from './progress.ts';
import { listenForInterruption } from './signals.ts';

const HELP = `
Writes ConfigMaps in a namespace of its own, which is removed afterwards. The context is printed first; without
--yes nothing is sent unless it is a kind-… context whose server is a loopback address.
Exit code 0: every write reached every informer once, in order, and the caches equal a LIST. 1: not so, or the
test could not be done. 2: nothing can be said, because writes failed, the server made informers list again, or
the load was not what was asked for: less than 95 % of --rate, or p99 of due to sent above 100 ms.`;
const EXIT_INTERRUPTED = 130;
const SEED_MAX = 2 ** 32 - 1;

const parseObjects = parseCount('--objects', 1, 1_000_000);
const parseRate = parseCount('--rate', 1, 100_000);
const parseObjectBytes = parseCount('--object-bytes', 1, 512 * 1024);
const parseSeed = parseCount('--seed', 0, SEED_MAX);
const parseInformers = parseCount('--informers', 1, 100);

export function loadTestCommand(): Command {
  return new Command('loadtest')
    .description('write to a cluster and check that informers deliver every write')
    .addHelpText('after', HELP)
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('--objects <count>', 'ConfigMaps at the start', parseObjects, 10_000)
    .option('--object-bytes <bytes>', 'data in each of them', parseObjectBytes, 1024)
    .option('--rate <rate>', 'writes a second, in open loop', parseRate, 500)
    .option('--duration <seconds>', 'how long', parseSeconds, 60)
    .option('--informers <count>', 'informers that watch them', parseInformers, 2)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--seed <number>', 'seed of the order of writes; default: a random one', parseSeed)
    .option('--json', 'print the result as one JSON object on stdout')
    .option('--yes', 'write to this context although it is not known to be a throwaway cluster')
    .action(loadTest);
}

async function loadTest(flags: LoadTestFlags): Promise<void> {
  const kubeConfig = loadKubeConfig({
    ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  });
  const target = targetOf(kubeConfig);
  console.error(targetText(target));
  wantTarget(target, flags.yes === true);
  using interruption = listenForInterruption();
  try {
    const { runLoadTest } = await import('./loadtest-run.ts');
    const progress = progressOn(process.stderr, flags.json === true);
    const result = await runLoadTest(kubeConfig, planOf(flags), progress, interruption.signal);
    const { report, informers, firstFailure } = result;
    const conclusion = conclude(report, informers, firstFailure);
    if (flags.json === true) console.log(JSON.stringify(report));
    else console.log(`\n${reportText(report, informers)}\n\n${verdictText(conclusion)}`);
    if (flags.json === true && conclusion.kind !== 'PASS') console.error(verdictText(conclusion));
    process.exitCode = EXIT_CODES[conclusion.kind];
  } catch (error) {
    // An interruption may cause further failures, which are expected; the namespace is deleted by now.
    if (!interruption.signal.aborted) throw error;
    console.error('interrupted');
    process.exitCode = EXIT_INTERRUPTED;
  }
}

function planOf(flags: LoadTestFlags): LoadTestPlan {
  return {
    objects: flags.objects,
    objectBytes: flags.objectBytes,
    rate: flags.rate,
    durationSeconds: flags.duration,
    informers: flags.informers,
    threads: flags.threads ?? defaultThreads(),
    seed: flags.seed ?? randomInt(SEED_MAX),
  };
}

/** `kubeloom loadtest`: runs a workload against a throwaway cluster, and checks that watchers receive every write. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KubeConfig } from '@kubernetes/client-node';
import { Command, Option } from 'commander';
import { defaultThreads, loadKubeConfig } from '../index.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { runLoadTest } from '../loadtest/run/run-load-test.ts';
import type { LoadTestOptions } from '../loadtest/run/run-load-test.ts';
import { targetOf, targetText, wantTarget } from '../loadtest/run/target.ts';
import type { LoadTestTarget } from '../loadtest/run/target.ts';
import { CLIENTS } from '../loadtest/workload/workload.ts';
import type { WatcherClient } from '../loadtest/workload/workload.ts';
import { workloadOfFlags } from '../loadtest/workload/from-flags.ts';
import { PRESETS, isPreset, presetText } from '../loadtest/workload/presets.ts';
import { readWorkload } from '../loadtest/workload/read-workload.ts';
import type { ReadWorkload } from '../loadtest/workload/read-workload.ts';
import { parseCount, parseSeconds, parseThreads } from './arguments.ts';
import { COLLECT, collect, runIndex, shareOf } from './loadtest-indexes.ts';
import type { IndexFlags } from './loadtest-indexes.ts';
import { compareFiles, printResult, wantReportFlags } from './loadtest-reports.ts';
import { loadTestView } from './loadtest-view.ts';
import { packageVersion } from './package-version.ts';
import { runInterruptibly } from './signals.ts';

const HELP = `
A workload is a YAML file, or one of the presets ${PRESETS.join(', ')}; --print prints it.
Without one the flags are the workload: ConfigMaps, informers of all of them, one rate.
Everything is written in namespaces of its own, which are removed afterwards. The context is printed first; without
--yes nothing is sent unless it is a kind-… context whose server is a loopback address.
In an Indexed Job each pod has --run NAME --indexes COUNT; collect --run NAME waits for their end, and is the result.
Exit code 0: every write reached every watcher once, in order, and the caches equal a LIST. 1: not so, or the
test could not be done. 2: nothing can be said, because writes failed, or generator, server or client were
saturated. 3: a threshold of the workload was missed. 130: interrupted.`;
const SEED_MAX = 2 ** 32 - 1;

const parseObjects = parseCount('--objects', 1, 1_000_000);
const parseRate = parseCount('--rate', 1, 100_000);
const parseObjectBytes = parseCount('--object-bytes', 1, 512 * 1024);
const parseSeed = parseCount('--seed', 0, SEED_MAX);
const parseInformers = parseCount('--informers', 1, 100);
const parseIndexes = parseCount('--indexes', 1, 1000);

interface LoadTestFlags extends IndexFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
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

export function loadTestCommand(): Command {
  return new Command('loadtest')
    .description('write to a cluster and check that watchers receive every write')
    .argument('[workload]', `a workload file, a preset, or the word ${COLLECT}`)
    .addHelpText('after', HELP)
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
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
    .option('--prometheus <file>', "write the result in Prometheus' text format")
    .option('--compare <files...>', 'compare two files of --json, as text and with --html as a page')
    .option('--run <name>', 'name of a run of several indexes, for all of them and for collect')
    .option('--indexes <count>', 'be one of so many indexes; $JOB_COMPLETION_INDEX says which', parseIndexes)
    .option('--yes', 'write to this context although it is not known to be a throwaway cluster')
    .option('--allow-restart', 'run the commands of server-restart phases')
    .action(loadTest);
}

async function loadTest(name: string | undefined, flags: LoadTestFlags): Promise<void> {
  if (flags.compare) {
    await compareFiles(flags.compare, flags);
    return;
  }
  wantReportFlags(flags);
  if (name === COLLECT) {
    await collect(...targetOfFlags(flags), flags);
    return;
  }
  const share = shareOf(flags, process.env);
  const text = name === undefined ? textOfFlags(flags) : textOfWorkload(name, flags);
  // The file as it is: its seed is chosen when it runs.
  const { workload, yaml }: ReadWorkload = readWorkload(text, name ?? 'flags', flags, randomInt(SEED_MAX));
  if (flags.print === true) {
    process.stdout.write(text);
    return;
  }
  const restart = workload.phases.find(({ type }) => type === 'server-restart');
  if (restart && flags.allowRestart !== true) {
    const message = `nothing was sent: the phase ${restart.name} restarts the server; add --allow-restart`;
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST_REFUSED', message);
  }
  const [kubeConfig, target] = targetOfFlags(flags);
  await runInterruptibly(async (signal) => {
    const title = `kubeloom loadtest ${workload.name} · ${target.context}`;
    const view = loadTestView(process.stderr, title, flags.json === true);
    const options: LoadTestOptions = {
      workload,
      workloadYaml: yaml,
      kubeConfig,
      target,
      version: packageVersion(),
      signal,
      say: (line) => view.say(line),
      onLive: (state) => view.show(state),
    };
    const work = share ? runIndex(options, share) : runLoadTest(options);
    const result = await work.finally(() => view[Symbol.dispose]());
    return result ? printResult(result, flags) : 0;
  });
}

/** Prints the target. @throws ERR_KUBELOOM_LOADTEST_REFUSED when it is no throwaway cluster and `--yes` is absent */
function targetOfFlags({ kubeconfig, context, yes }: LoadTestFlags): [KubeConfig, LoadTestTarget] {
  const kubeConfig = loadKubeConfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const target = targetOf(kubeConfig);
  console.error(targetText(target));
  wantTarget(target, yes === true);
  return [kubeConfig, target];
}

/** Flags that describe a workload. */
const DESCRIBING = ['objects', 'objectBytes', 'rate', 'duration', 'informers', 'threads'] as const;

function textOfWorkload(name: string, flags: LoadTestFlags): string {
  const given = DESCRIBING.filter((flag) => flags[flag] !== undefined).map((flag) => `--${optionOf(flag)}`);
  if (given.length > 0) {
    const message = `${given.join(', ')} describe a workload of their own: leave them out, or change a file`;
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  if (isPreset(name)) return presetText(name);
  try {
    return readFileSync(name, 'utf8');
  } catch (cause) {
    const message = `${name} is no preset (${PRESETS.join(', ')}), and cannot be read: ${messageOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_WORKLOAD', message, { cause });
  }
}

function textOfFlags(flags: LoadTestFlags): string {
  return workloadOfFlags({
    objects: flags.objects ?? 10_000,
    objectBytes: flags.objectBytes ?? 1024,
    rate: flags.rate ?? 500,
    durationSeconds: flags.duration ?? 60,
    informers: flags.informers ?? 2,
    threads: flags.threads ?? defaultThreads(),
  });
}

/** object-bytes */
function optionOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `kubeloom loadtest`: runs a workload against a throwaway cluster, and checks that watchers receive every write. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultIndexerThreads } from '../../../index.ts';
import type { LoadedKubeConfig } from '../../../index.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { runLoadTest } from '../../loadtest/run/run-load-test.ts';
import type { LoadTestOptions } from '../../loadtest/run/run-load-test.ts';
import { targetOf, targetText, checkTarget } from '../../loadtest/run/target.ts';
import type { LoadTestTarget } from '../../loadtest/run/target.ts';
import { workloadOfFlags } from '../../loadtest/workload/from-flags.ts';
import { PRESETS, isPreset, presetText } from '../../loadtest/workload/presets.ts';
import { readWorkload } from '../../loadtest/workload/read-workload.ts';
import type { ReadWorkload } from '../../loadtest/workload/read-workload.ts';
import { kubeConfigOf } from '../cluster.ts';
import { COLLECT, SEED_MAX } from '../commands/loadtest.ts';
import type { LoadTestFlags } from '../commands/loadtest.ts';
import { collect, runIndex, shareOf } from './loadtest-indexes.ts';
import { compareFiles, printResult, checkReportFlags } from './loadtest-reports.ts';
import { loadTestView } from './loadtest-view.ts';
import { packageVersion } from '../package-version.ts';
import { runInterruptibly } from '../signals.ts';
import { printLine, printText } from '../terminal/output.ts';

export async function loadTest(name: string | undefined, flags: LoadTestFlags): Promise<void> {
  if (flags.compare) {
    await compareFiles(flags.compare, flags);
    return;
  }
  checkReportFlags(flags);
  if (name === COLLECT) {
    await collect(...targetOfFlags(flags), flags);
    return;
  }
  const share = shareOf(flags, process.env);
  const text = name === undefined ? textOfFlags(flags) : textOfWorkload(name, flags);
  // The file is printed unchanged: the run chooses the seed.
  const { workload, yaml }: ReadWorkload = readWorkload(text, name ?? 'flags', flags, randomInt(SEED_MAX));
  if (flags.print === true) {
    printText(text);
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

/** Prints the target. @throws ERR_KUBELOOM_LOADTEST_REFUSED when it is not a throwaway cluster and `--yes` is absent */
function targetOfFlags(flags: LoadTestFlags): [LoadedKubeConfig, LoadTestTarget] {
  const kubeConfig = kubeConfigOf(flags);
  const target = targetOf(kubeConfig);
  printLine(targetText(target), process.stderr);
  checkTarget(target, flags.yes === true);
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
    threads: flags.threads ?? defaultIndexerThreads(),
  });
}

/** object-bytes */
function optionOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

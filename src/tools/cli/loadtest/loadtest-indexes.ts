/** `kubeloom loadtest` as an index of a Job: flags and environment, and `collect`. */
import type { AnyKubeConfig } from '../../../kube/server-source.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { collectLoadTest } from '../../loadtest/indexes/collect.ts';
import { followLoadTest } from '../../loadtest/indexes/follower.ts';
import { coordinateLoadTest } from '../../loadtest/indexes/coordinator.ts';
import type { LoadTestOptions } from '../../loadtest/run/run-load-test.ts';
import type { LoadTestTarget } from '../../loadtest/run/target.ts';
import type { Share } from '../../loadtest/watch/placement.ts';
import { REPORT_FLAGS, printResult } from './loadtest-reports.ts';
import type { ReportFlags } from './loadtest-reports.ts';
import { packageVersion } from '../package-version.ts';
import { runInterruptibly } from '../signals.ts';
import { printLine } from '../terminal/output.ts';

export interface IndexFlags extends ReportFlags {
  /** The name of the run. */
  readonly run?: string;
  readonly indexes?: number;
}

/** A single index of a run. */
export interface NamedShare extends Share {
  /** The name of the run. */
  readonly name: string;
}

/**
 * @param environment contains the index as an Indexed Job sets it
 * @returns undefined for a run of a single process
 * @throws ERR_KUBELOOM_USAGE when flags and environment do not fit
 */
export function shareOf(
  flags: IndexFlags,
  environment: Readonly<Record<string, string | undefined>>,
): NamedShare | undefined {
  const { run, indexes } = flags;
  if (run === undefined && indexes === undefined) return undefined;
  if (run === undefined || run === '' || indexes === undefined) {
    throw usage(
      'an index needs both: --run NAME and --indexes COUNT; kubeloom loadtest collect needs --run alone',
    );
  }
  const given = REPORT_FLAGS.filter((flag) => flags[flag] !== undefined).map((flag) => `--${flag}`);
  if (given.length > 0) {
    throw usage(
      `${given.join(', ')}: an index has no result of its own; use it with kubeloom loadtest collect`,
    );
  }
  const text = environment['JOB_COMPLETION_INDEX'] ?? '';
  const index = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(index < indexes)) {
    const found = text === '' ? 'is not set' : `is ${text}`;
    throw usage(`JOB_COMPLETION_INDEX ${found}: an Indexed Job sets it from 0 to ${indexes - 1}`);
  }
  return { name: run, index, indexes };
}

/** Resolves when this index has stored its part, without a result. */
export async function runIndex(options: LoadTestOptions, share: NamedShare): Promise<undefined> {
  const { name, index, indexes } = share;
  if (index === 0) await coordinateLoadTest(options, name, indexes);
  else await followLoadTest({ ...options, name, share });
  options.say(`index ${index} has left its part: kubeloom loadtest collect --run ${name} judges`);
}

export async function collect(
  kubeConfig: AnyKubeConfig,
  target: LoadTestTarget,
  flags: IndexFlags,
): Promise<void> {
  const { run = '' } = flags;
  if (run === '') throw usage('collect needs --run NAME, the name that all indexes have');
  await runInterruptibly(async (signal) => {
    const say = (line: string): void => printLine(line, process.stderr);
    const version = packageVersion();
    return printResult(await collectLoadTest({ kubeConfig, target, version, name: run, signal, say }), flags);
  });
}

function usage(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', message);
}

/** `kubeloom types`: TypeScript for custom resources, on the standard output or compared with a file. */
import { readFile } from 'node:fs/promises';
import { KubeloomError, firstLineOf } from '../../../base/errors.ts';
import type { TypesFlags } from '../commands/types.ts';
import { listenForInterruption } from '../signals.ts';
import { printLine, printText } from '../terminal/output.ts';
import type { TypedDefinition } from './definition.ts';
import { moduleText } from './module-text.ts';
import { readCluster, readPaths } from './sources.ts';

/** Prints the module; with `--check` sets the exit code 1 if the file differs. @throws ERR_KUBELOOM_USAGE */
export async function types(sources: readonly string[], flags: TypesFlags): Promise<void> {
  const isCluster = flags.context !== undefined || flags.kubeconfig !== undefined;
  if (!isCluster && sources.length === 0) {
    const message = 'name files or folders, - for the standard input, or a cluster with --context';
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  const text = moduleText(isCluster ? await definitionsOfCluster(sources, flags) : await readPaths(sources));
  if (flags.check === undefined) return printText(text);
  const present = await readFile(flags.check, 'utf8').catch((cause: unknown) => {
    throw new KubeloomError('ERR_KUBELOOM_USAGE', `--check ${flags.check}: ${firstLineOf(cause)}`, { cause });
  });
  if (present.replaceAll('\r\n', '\n') === text) return;
  printLine(`${flags.check} is out of date: write it again with kubeloom types`, process.stderr);
  process.exitCode = 1;
}

async function definitionsOfCluster(
  names: readonly string[],
  flags: TypesFlags,
): Promise<readonly TypedDefinition[]> {
  using interruption = listenForInterruption();
  return await readCluster(names, flags, interruption.signal);
}

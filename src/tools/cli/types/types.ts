/** `kubeloom types`: TypeScript for custom resources, on the standard output or compared with a file. */
import { readFile } from 'node:fs/promises';
import { KubeloomError, firstLineOf } from '../../../base/errors.ts';
import type { TypesFlags } from '../commands/types.ts';
import { printLine, printText } from '../terminal/output.ts';
import { moduleText } from './module-text.ts';
import { readCluster, readPaths } from './sources.ts';

/**
 * Prints the module; with `--check` compares the file with the module.
 *
 * @returns the exit code: 1 if the file differs
 * @throws ERR_KUBELOOM_USAGE
 */
export async function types(
  sources: readonly string[],
  flags: TypesFlags,
  signal: AbortSignal,
): Promise<number> {
  const isCluster = flags.context !== undefined || flags.kubeconfig !== undefined;
  if (!isCluster && sources.length === 0) {
    const message = 'name files or folders, - for the standard input, or a cluster with --context';
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  const text = moduleText(isCluster ? await readCluster(sources, flags, signal) : await readPaths(sources));
  if (flags.check === undefined) {
    printText(text);
    return 0;
  }
  const present = await readFile(flags.check, 'utf8').catch((cause: unknown) => {
    throw new KubeloomError('ERR_KUBELOOM_USAGE', `--check ${flags.check}: ${firstLineOf(cause)}`, { cause });
  });
  if (present.replaceAll('\r\n', '\n') === text) return 0;
  printLine(`${flags.check} is out of date: write it again with kubeloom types`, process.stderr);
  return 1;
}

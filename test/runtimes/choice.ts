/** The runtimes of a run, and its results in a few words. Pure. */
import type { Runtime } from '../package/runtimes.ts';

/**
 * Returns the runtimes that the arguments name, such as `24` or `bun`; all when there is no argument.
 *
 * @throws for any other argument
 */
export function chosenRuntimes(runtimes: readonly Runtime[], args: readonly string[]): readonly Runtime[] {
  const named = args.map((arg) => {
    const runtime = runtimes.find(({ name }) => name.replace('Node ', '').toLowerCase() === arg);
    if (!runtime) throw new Error(`no runtime ${arg}: ${runtimes.map(({ name }) => name).join(', ')}`);
    return runtime;
  });
  return named.length > 0 ? named : runtimes;
}

/**
 * Returns the version and the numbers of tests in the output of a command, such as `v24.1.0: 12 tests, 11 pass, 1 skipped`.
 * Numbers of zero are left out.
 */
export function countsOf(output: string): string {
  const [version = ''] = /^v\d+\.\d+\.\d+$/m.exec(output) ?? [];
  const counts = [...output.matchAll(/^(?:ℹ|#) (tests|pass|fail|cancelled|skipped|todo) (\d+)$/gm)]
    .filter(([, , count]) => count !== '0')
    .map(([, name, count]) => `${count} ${name}`);
  return [version, counts.join(', ')].filter((text) => text !== '').join(': ');
}

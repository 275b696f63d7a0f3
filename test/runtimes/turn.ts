/** The runtimes of a run, and the line of Node that a run of CI tests: every maintained line has its turn. Pure. */
import type { Runtime } from '../package/runtimes.ts';
import { turnAmong } from './commit.ts';

/**
 * Returns one of the lines of Node, by the commit: a commit that is tested again gets the same one.
 *
 * @param commit hexadecimal digits
 */
export function turnOf(nodes: readonly Runtime[], commit: string): Runtime {
  const runtime = nodes[turnAmong(nodes.length, commit)];
  if (!runtime) throw new Error(`no Node for the commit ${JSON.stringify(commit)}`);
  return runtime;
}

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

/** The Node that a run of CI takes beside its own: every maintained line has its turn. Pure. */
import type { Runtime } from '../package/runtimes.ts';

/**
 * Returns one of the lines other than the line of this process, by the commit: a commit that is tested again gets the same one.
 *
 * @param version of this process, such as `v20.20.2`
 * @param commit hexadecimal digits
 */
export function turnOf(nodes: readonly Runtime[], version: string, commit: string): Runtime {
  const own = `Node ${/^v(\d+)/.exec(version)?.[1]}`;
  const others = nodes.filter(({ name }) => name !== own);
  const runtime = others[Number.parseInt(commit.slice(0, 8), 16) % others.length];
  if (!runtime) throw new Error(`no Node beside ${own} for the commit ${JSON.stringify(commit)}`);
  return runtime;
}

/** Returns the lines that the arguments name: numbers, or all without one. @throws for any other argument */
export function chosenNodes(nodes: readonly Runtime[], args: readonly string[]): readonly Runtime[] {
  const named = args.map((arg) => {
    const runtime = nodes.find(({ name }) => name === `Node ${arg}`);
    if (!runtime) throw new Error(`no Node ${arg}: ${nodes.map(({ name }) => name).join(', ')}`);
    return runtime;
  });
  return named.length > 0 ? named : nodes;
}

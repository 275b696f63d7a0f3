/** Flags of `kubeloom top`. */
import { Command } from 'commander';
import { parseCount, parseThreads } from '../arguments.ts';
import { withCluster, withSelection } from '../cluster-flags.ts';
import type { SelectionFlags } from '../cluster-flags.ts';

export interface TopFlags extends SelectionFlags {
  readonly threads?: number;
  readonly port?: number;
  readonly socket?: string;
  readonly json?: boolean;
}

const HELP = `
On a terminal a table, whose keys are at its bottom; elsewhere a line each second. docs/top.md has the columns and the
lines of --json. When a program that is attached ends, the table waits for it; elsewhere the exit code is 1.
q, SIGINT and SIGTERM end it with exit code 0.`;

export function topCommand(run: (resources: readonly string[], flags: TopFlags) => Promise<void>): Command {
  const command = new Command('top')
    .description('show live figures of informers: of resources of a cluster, or of a running program')
    .addHelpText('after', HELP)
    .argument('[resources...]', 'pods, deployments.apps, …');
  return withCluster(withSelection(command))
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option(
      '--port <port>',
      'attach to a program on this machine that calls serveStats({ port }), or to the health port of a Manager',
      parseCount('--port', 1, 65_535),
    )
    .option('--socket <path>', 'attach to a program that calls serveStats({ socketPath })')
    .option('--json', 'a JSON document each second')
    .action(run);
}

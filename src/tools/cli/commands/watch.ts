/** Flags of `kubeloom watch`. */
import { Command, Option } from 'commander';
import { parseThreads } from '../arguments.ts';
import { withCluster, withSelection } from '../cluster-flags.ts';
import type { SelectionFlags } from '../cluster-flags.ts';

export interface WatchFlags extends SelectionFlags {
  /** Default: a line with the event, the namespace and the name. */
  readonly output?: 'name' | 'json';
  readonly json?: boolean;
  readonly watchOnly?: boolean;
  readonly outputWatchEvents?: boolean;
  readonly threads?: number;
  readonly verbose?: boolean;
}

const HELP = `
Prints until SIGINT or SIGTERM, and ends with exit code 0. 1: the server does not understand the request.`;

export type WatchAction = (resources: string, flags: WatchFlags) => Promise<void>;

export function watchCommand(run: WatchAction): Command {
  const command = new Command('watch')
    .description('print the objects of resources, then every change, from informers')
    .argument('<resources>', 'pods, pod, po, deployments.apps, pods,services, …')
    .addHelpText('after', HELP);
  return withCluster(withSelection(command))
    .addOption(
      new Option('-o, --output <format>', 'KIND/NAME, or the object as JSON, a line each').choices([
        'name',
        'json',
      ]),
    )
    .addOption(new Option('--json', 'the same as -o json').conflicts('output'))
    .option('--output-watch-events', 'say of each line of -o whether it was ADDED, MODIFIED or DELETED')
    .option('--watch-only', 'print changes only')
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .action(run);
}

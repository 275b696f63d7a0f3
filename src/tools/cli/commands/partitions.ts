/** Flags of `kubeloom partitions`. */
import { Command } from 'commander';
import { runInterruptibly } from '../signals.ts';
import { withCluster, withNamespace } from '../cluster-flags.ts';
import type { ClusterFlags } from '../cluster-flags.ts';

export interface PartitionsFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Returns the exit code. */
export type PartitionsAction = (
  group: string,
  flags: PartitionsFlags,
  signal: AbortSignal,
) => Promise<number>;

const HELP = `
Exit code 1: a partition is not served, or there is none. 130: interrupted.`;

export function partitionsCommand(run: PartitionsAction): Command {
  const command = new Command('partitions')
    .description('print who owns the partitions of a group')
    .argument('<group>', 'name of the PartitionedManager')
    .addHelpText('after', HELP);
  return withCluster(withNamespace(command))
    .option('--json', 'print JSON')
    .action((group: string, flags: PartitionsFlags) =>
      runInterruptibly((signal) => run(group, flags, signal)),
    );
}

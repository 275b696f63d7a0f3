/** Flags of `kubeloom partitions`. */
import { Command } from 'commander';

export interface PartitionsFlags {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export type PartitionsAction = (group: string, flags: PartitionsFlags) => Promise<void>;

export function partitionsCommand(run: PartitionsAction): Command {
  return new Command('partitions')
    .description('print who owns the partitions of a group; ends with 1 when one is not served')
    .argument('<group>', 'name of the PartitionedManager')
    .option('-n, --namespace <name>', "default: the context's")
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('--json', 'print JSON')
    .action(run);
}

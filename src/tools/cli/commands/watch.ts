/** Flags of `kubeloom watch`. */
import { Command, Option } from 'commander';
import { parseThreads } from '../arguments.ts';

export interface WatchFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Default: a line with the event, the namespace and the name. */
  readonly output?: 'name' | 'json';
  readonly watchOnly?: boolean;
  readonly outputWatchEvents?: boolean;
  readonly threads?: number;
  readonly verbose?: boolean;
}

export type WatchAction = (resources: string, flags: WatchFlags) => Promise<void>;

export function watchCommand(run: WatchAction): Command {
  return new Command('watch')
    .description('print the objects of resources, then every change, from informers')
    .argument('<resources>', 'pods, pod, po, deployments.apps, pods,services, …')
    .addOption(new Option('-n, --namespace <name>', "default: the context's").conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('-l, --selector <selector>', 'label selector, e.g. app=web,tier!=cache')
    .option('--field-selector <selector>', 'e.g. metadata.name=web-0, spec.nodeName=node-1')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .addOption(
      new Option('-o, --output <format>', 'KIND/NAME, or the object as JSON, a line each').choices([
        'name',
        'json',
      ]),
    )
    .option('--output-watch-events', 'say of each line of -o whether it was ADDED, MODIFIED or DELETED')
    .option('--watch-only', 'print changes only')
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .action(run);
}

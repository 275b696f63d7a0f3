/** The options of `kubeloom watch RESOURCE`. The implementation is loaded when the command runs. */
import { Command, Option } from 'commander';
import { parseThreads } from './arguments.ts';
import type { WatchFlags } from './flags.ts';

export function watchCommand(): Command {
  return new Command('watch')
    .description('print the objects of a resource, then every change, from an informer')
    .argument('<resource>', 'pods, pod, po, deployments.apps, …')
    .addOption(new Option('-n, --namespace <name>', "default: the context's").conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('-l, --selector <selector>', 'label selector, e.g. app=web,tier!=cache')
    .option('--field-selector <selector>', 'e.g. spec.nodeName=node-1')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .addOption(new Option('-o, --output <format>', 'default: a table').choices(['wide', 'name', 'json']))
    .option('--output-watch-events', 'say of each line whether it was ADDED, MODIFIED or DELETED')
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .action(async (resource: string, flags: WatchFlags) => {
      const { runWatch } = await import('./watch-run.ts');
      await runWatch(resource, flags);
    });
}

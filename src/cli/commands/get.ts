/** `kubeloom get` and `kubeloom watch`: their flags. */
import { Command, Option } from 'commander';
import { parseThreads } from '../arguments.ts';

export const OUTPUTS = 'wide, name, json, yaml, jsonpath=TEMPLATE, custom-columns=HEADER:PATH,…';

export interface GetFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output?: string;
  readonly watch?: boolean;
  readonly watchOnly?: boolean;
  readonly outputWatchEvents?: boolean;
  readonly threads?: number;
  readonly verbose?: boolean;
}

export type GetAction = (resources: string, names: readonly string[], flags: GetFlags) => Promise<void>;

export function getCommand(run: GetAction): Command {
  return commandOf('get')
    .description('print the objects of resources, from informers')
    .option('-w, --watch', 'then print every change')
    .option('--watch-only', 'print changes only')
    .action(run);
}

export function watchCommand(run: GetAction): Command {
  return commandOf('watch')
    .description('print the objects of resources, then every change: get --watch')
    .option('--watch-only', 'print changes only')
    .action((resources: string, names: readonly string[], flags: GetFlags) =>
      run(resources, names, { ...flags, watch: true }),
    );
}

function commandOf(name: string): Command {
  return new Command(name)
    .argument('<resources>', 'pods, pod, po, deployments.apps, pods,services, pod/web-0, …')
    .argument('[names...]', 'names of objects; default: all')
    .addOption(new Option('-n, --namespace <name>', "default: the context's").conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('-l, --selector <selector>', 'label selector, e.g. app=web,tier!=cache')
    .option('--field-selector <selector>', 'e.g. spec.nodeName=node-1')
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .option('-o, --output <format>', `${OUTPUTS}; default: a table`)
    .option('--output-watch-events', 'say of each line whether it was ADDED, MODIFIED or DELETED')
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads);
}

/** The flags that choose a cluster and its objects, named as kubectl names them: the same ones for every command. */
import { Option } from 'commander';
import type { Command } from 'commander';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface NamespaceFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

export interface SelectionFlags extends NamespaceFlags {
  readonly selector?: string;
  readonly fieldSelector?: string;
}

/** Adds `--kubeconfig` and `--context`. */
export function withCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one");
}

/** Adds `-n`. */
export function withNamespace(command: Command): Command {
  return command.option('-n, --namespace <name>', "default: the context's");
}

/** Adds `-n`, `-A`, `-l` and `--field-selector`. */
export function withSelection(command: Command): Command {
  return command
    .addOption(new Option('-n, --namespace <name>', "default: the context's").conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'objects of all namespaces')
    .option('-l, --selector <selector>', 'label selector, e.g. app=web,tier!=cache')
    .option('--field-selector <selector>', 'e.g. metadata.name=web-0, spec.nodeName=node-1');
}

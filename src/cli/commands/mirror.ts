/** `kubeloom mirror`: its flags. */
import { Command, Option } from 'commander';
import { parseCount, parsePort } from '../arguments.ts';

export interface MirrorFlags {
  readonly unix?: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly kubeconfigOut?: string;
  readonly historyMib?: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly verbose?: boolean;
}

export function mirrorCommand(
  run: (resources: readonly string[], flags: MirrorFlags) => Promise<void>,
): Command {
  return new Command('mirror')
    .description(
      'serve list and watch of resources to this machine, from one watch of the cluster, until SIGINT or SIGTERM',
    )
    .argument('<resources...>', 'pods, deployments.apps, …')
    .option('--unix <path>', 'listen on a Unix socket that only its owner can open')
    .addOption(
      new Option('--port <port>', 'listen with TLS on 127.0.0.1; 0: any free port')
        .argParser(parsePort)
        .conflicts('unix'),
    )
    .option(
      '--token-file <file>',
      'holds the bearer token that clients of the port must send (default: a random one)',
    )
    .option('--kubeconfig-out <file>', 'where to write the kubeconfig for the port (mode 0600)')
    .addOption(
      new Option(
        '--history-mib <MiB>',
        'events of each resource that are kept for clients that resume or are behind (default: 64)',
      ).argParser(parseCount('--history-mib', 1, 65_536)),
    )
    .option('--kubeconfig <file>', 'of the cluster; default: $KUBECONFIG, ~/.kube/config, in-cluster')
    .option('--context <name>', "default: the kubeconfig's current one")
    .action(run);
}

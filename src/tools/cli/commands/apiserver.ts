/** Flags of `kubeloom apiserver`. */
import { Command } from 'commander';
import { parseObjectBytes, parsePods, parsePort, parseRate } from '../arguments.ts';
import type { Rate } from '../arguments.ts';

export interface ApiserverFlags {
  readonly port: number;
  readonly kubeconfigOut: string;
  readonly token?: string;
  readonly tls: boolean;
  readonly host: string;
  readonly allowRemote?: boolean;
  readonly pods?: number;
  readonly objectBytes: number;
  readonly rate?: Rate;
  readonly crd: readonly string[];
}

const HELP = `
SIGINT and SIGTERM end it with exit code 0. 1: it cannot listen, or the kubeconfig cannot be written.`;

export function apiserverCommand(run: (flags: ApiserverFlags) => Promise<void>): Command {
  return new Command('apiserver')
    .description('run the embedded apiserver until SIGINT or SIGTERM')
    .addHelpText('after', HELP)
    .requiredOption('--kubeconfig-out <file>', 'where to write the kubeconfig (mode 0600)')
    .option('--port <port>', '0: any free port', parsePort, 0)
    .option('--token <token>', 'the bearer token that clients must send (default: a random one)')
    .option('--no-tls', 'plain HTTP')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-remote', 'allow an address that is not loopback')
    .option('--pods <count>', 'number of sample pods at the start', parsePods)
    .option('--object-bytes <bytes>', 'size of a sample pod', parseObjectBytes, 1024)
    .option('--rate <rate>', 'changes of pods a second, or "max"', parseRate)
    .option(
      '--crd <file>',
      'CustomResourceDefinitions to serve, in YAML or JSON; can be given several times',
      (file: string, files: readonly string[]) => [...files, file],
      [],
    )
    .action(run);
}

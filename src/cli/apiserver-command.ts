/** The options of `kubeloom apiserver`. The implementation is loaded when the command runs. */
import { Command } from 'commander';
import { parseObjectBytes, parsePods, parsePort, parseRate } from './arguments.ts';
import type { ApiserverFlags } from './flags.ts';

export function apiserverCommand(): Command {
  return new Command('apiserver')
    .description('run the embedded apiserver until SIGINT or SIGTERM')
    .requiredOption('--kubeconfig-out <file>', 'where to write the kubeconfig (mode 0600)')
    .option('--port <port>', '0: any free port', parsePort, 0)
    .option('--token <token>', 'the bearer token that clients must send (default: a random one)')
    .option('--no-tls', 'plain HTTP')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-remote', 'allow an address that is not loopback')
    .option('--pods <count>', 'number of sample pods at the start', parsePods)
    .option('--object-bytes <bytes>', 'size of a sample pod', parseObjectBytes, 1024)
    .option('--rate <rate>', 'changes of pods a second, or "max"', parseRate)
    .action(async (flags: ApiserverFlags) => {
      const { runApiserver } = await import('./apiserver-run.ts');
      await runApiserver(flags);
    });
}

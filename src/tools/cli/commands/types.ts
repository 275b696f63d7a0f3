/** Flags of `kubeloom types`. */
import { Command } from 'commander';
import { runInterruptibly } from '../signals.ts';
import { withCluster } from '../cluster-flags.ts';
import type { ClusterFlags } from '../cluster-flags.ts';

export interface TypesFlags extends ClusterFlags {
  readonly check?: string;
}

const HELP = `
With --context or --kubeconfig it reads the definitions of the cluster: all of them, or those that the arguments name.
Exit code 1: with --check the file is out of date, or the definitions cannot be read. 130: interrupted.`;

/** Returns the exit code. */
export type TypesAction = (
  sources: readonly string[],
  flags: TypesFlags,
  signal: AbortSignal,
) => Promise<number>;

export function typesCommand(run: TypesAction): Command {
  const command = new Command('types')
    .description('print TypeScript for CustomResourceDefinitions: interfaces, and resources for informers')
    .argument(
      '[sources...]',
      'files, folders, - for the standard input; of a cluster, names such as backups.example.com',
    )
    .addHelpText('after', HELP);
  return withCluster(command)
    .option('--check <file>', 'print nothing; exit with 1 if the file is out of date')
    .action((sources: readonly string[], flags: TypesFlags) =>
      runInterruptibly((signal) => run(sources, flags, signal)),
    );
}

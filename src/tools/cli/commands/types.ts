/** Flags of `kubeloom types`. */
import { Command } from 'commander';

export interface TypesFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly check?: string;
}

export type TypesAction = (sources: readonly string[], flags: TypesFlags) => Promise<void>;

export function typesCommand(run: TypesAction): Command {
  return new Command('types')
    .description('print TypeScript for CustomResourceDefinitions: interfaces, and resources for informers')
    .argument(
      '[sources...]',
      'files, folders, - for the standard input; of a cluster, names such as backups.example.com',
    )
    .option('--context <name>', 'read the definitions of this cluster')
    .option('--kubeconfig <file>', 'read them of the cluster of this file')
    .option('--check <file>', 'print nothing; exit with 1 if the file is out of date')
    .action(run);
}

/** The commands of `kubeloom`, and the code that they share. A command's program is loaded when it runs. */
import { Command } from 'commander';
import { apiserverCommand } from './commands/apiserver.ts';
import { demoCommand } from './commands/demo.ts';
import { EXAMPLES } from './examples.ts';
import { loadTestCommand } from './commands/loadtest.ts';
import { packageVersion } from './package-version.ts';
import { partitionsCommand } from './commands/partitions.ts';
import { topCommand } from './commands/top.ts';
import { typesCommand } from './commands/types.ts';
import { watchCommand } from './commands/watch.ts';

/**
 * Commands that need all others, and a library that only these commands load, because loading it would slow every
 * start.
 */
const COMPLETION: readonly (string | undefined)[] = ['complete', 'completion'];

/** @param word the first word of the command line */
export async function program(word: string | undefined): Promise<Command> {
  const command = new Command('kubeloom')
    .description('A threaded, exact, in-memory copy of Kubernetes collections, from the command line.')
    .version(packageVersion())
    .addCommand(demoCommand(async (...given) => (await import('./demo/demo.ts')).demo(...given)))
    .addCommand(watchCommand(async (...given) => (await import('./watch.ts')).watch(...given)))
    .addCommand(topCommand(async (...given) => (await import('./top/top.ts')).top(...given)))
    .addCommand(partitionsCommand(async (...given) => (await import('./partitions.ts')).partitions(...given)))
    .addCommand(typesCommand(async (...given) => (await import('./types/types.ts')).types(...given)))
    .addCommand(apiserverCommand(async (...given) => (await import('./apiserver.ts')).serve(...given)))
    .addCommand(
      loadTestCommand(async (...given) => (await import('./loadtest/loadtest.ts')).loadTest(...given)),
    );
  if (COMPLETION.includes(word)) (await import('./completion.ts')).addCompletion(command);
  else command.command('completion <shell>').description('print a script for bash, zsh, fish or powershell');
  for (const each of [command, ...command.commands]) {
    each.option('--verbose', 'print stacks of errors').exitOverride();
    // kubeloom prints errors in a single place, instead of commander.
    each.configureOutput({ outputError: () => undefined });
    const examples = EXAMPLES[each.name()];
    if (examples) each.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`);
  }
  return command;
}

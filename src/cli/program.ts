/** The commands of `kubeloom`, and what they have in common. */
import { Command } from 'commander';
import { apiserverCommand } from './apiserver.ts';
import { addCompletion } from './completion.ts';
import { demoCommand } from './demo.ts';
import { EXAMPLES } from './examples.ts';
import { getCommand, watchCommand } from './get.ts';
import { loadTestCommand } from './loadtest.ts';
import { packageVersion } from './package-version.ts';
import { topCommand } from './top.ts';

export function program(): Command {
  const command = new Command('kubeloom')
    .description('A threaded, exact, in-memory copy of Kubernetes collections, from the command line.')
    .version(packageVersion())
    .addCommand(demoCommand())
    .addCommand(getCommand())
    .addCommand(watchCommand())
    .addCommand(topCommand())
    .addCommand(apiserverCommand())
    .addCommand(loadTestCommand());
  addCompletion(command);
  for (const each of [command, ...command.commands]) {
    each.option('--verbose', 'print stacks of errors').exitOverride();
    // kubeloom prints errors in one place, not commander.
    each.configureOutput({ outputError: () => undefined });
    const examples = EXAMPLES[each.name()];
    if (examples) each.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}`);
  }
  return command;
}

#!/usr/bin/env node
/** The command line of kubeloom: `kubeloom demo`, `watch`, `top`, `apiserver`, `loadtest`. */
import { Command } from 'commander';
import { apiserverCommand } from './apiserver.ts';
import { demoCommand } from './demo.ts';
import { report } from './failure.ts';
import { loadTestCommand } from './loadtest.ts';
import { packageVersion } from './package-version.ts';
import { allowClosedOutput } from './signals.ts';
import { topCommand } from './top.ts';
import { watchCommand } from './watch.ts';

function program(): Command {
  const command = new Command('kubeloom')
    .description('A threaded, exact, in-memory copy of Kubernetes collections, from the command line.')
    .version(packageVersion())
    .addCommand(demoCommand())
    .addCommand(watchCommand())
    .addCommand(topCommand())
    .addCommand(apiserverCommand())
    .addCommand(loadTestCommand());
  for (const each of [command, ...command.commands]) {
    each.option('--verbose', 'print stacks of errors').exitOverride();
    // kubeloom prints errors in one place, not commander.
    each.configureOutput({ outputError: () => undefined });
  }
  return command;
}

allowClosedOutput();
const command = program();
try {
  await command.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.argv.includes('--verbose'));
}

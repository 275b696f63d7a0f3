#!/usr/bin/env node
/** The command line of kubeloom: `kubeloom demo`, `kubeloom watch`, `kubeloom apiserver`. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { apiserverCommand } from './apiserver-command.ts';
import { demoCommand } from './demo-command.ts';
import { report } from './failure.ts';
import { watchCommand } from './watch-command.ts';

/** The same distance from source and, one level deeper, from dist. */
function version(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const content: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof content === 'object' && content !== null && 'version' in content) {
        return String(content.version);
      }
    } catch {
      // Not here: one level up.
    }
  }
  return 'unknown';
}

function program(): Command {
  const command = new Command('kubeloom')
    .description('A threaded, exact, in-memory copy of Kubernetes collections, from the command line.')
    .version(version())
    .addCommand(demoCommand())
    .addCommand(watchCommand())
    .addCommand(apiserverCommand());
  for (const each of [command, ...command.commands]) {
    each.option('--verbose', 'print stacks of errors').exitOverride();
    // Errors are printed in one place, ours.
    each.configureOutput({ outputError: () => undefined });
  }
  return command;
}

const command = program();
try {
  await command.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.argv.includes('--verbose'));
}

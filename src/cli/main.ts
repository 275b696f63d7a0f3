#!/usr/bin/env node
/** The command line of kubeloom: `kubeloom demo`, `watch`, `apiserver`, `loadtest`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { apiserverCommand } from './apiserver-command.ts';
import { demoCommand } from './demo-command.ts';
import { report } from './failure.ts';
import { loadTestCommand } from './loadtest-command.ts';
import { watchCommand } from './watch-command.ts';

/** Of the package that this file is in, wherever it was built to. */
function version(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const content = readJson(path.join(folder, 'package.json'));
    if (content?.name === 'kubeloom') return content.version;
    const above = path.dirname(folder);
    if (above === folder) return 'unknown';
    folder = above;
  }
}

function readJson(file: string): { readonly name: string; readonly version: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  } catch {
    return undefined;
  }
}

function program(): Command {
  const command = new Command('kubeloom')
    .description('A threaded, exact, in-memory copy of Kubernetes collections, from the command line.')
    .version(version())
    .addCommand(demoCommand())
    .addCommand(watchCommand())
    .addCommand(apiserverCommand())
    .addCommand(loadTestCommand());
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

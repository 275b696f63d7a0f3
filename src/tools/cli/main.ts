#!/usr/bin/env node
/** The command line of kubeloom. */
import { report } from './failure.ts';
import { program } from './program.ts';
import { allowClosedOutput } from './signals.ts';

allowClosedOutput();
const command = await program(process.argv[2]);
try {
  await command.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.argv.includes('--verbose'));
}

/** Installs the line of Node whose turn it is, by the commit, and prints the folder of its program: `.ci/run`. */
import { dirname } from 'node:path';
import { NODES, programOf } from '../package/runtimes.ts';
import { commitOf } from './commit.ts';
import { turnOf } from './turn.ts';

process.stdout.write(`${dirname(await programOf(turnOf(NODES, commitOf())))}\n`);

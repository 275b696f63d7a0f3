/** Flags of `kubeloom demo`. */
import { Command } from 'commander';
import type { Codec } from '../../../index.ts';
import {
  parseCodec,
  parseFixedRate,
  parseObjectBytes,
  parsePods,
  parseSeconds,
  parseThreads,
} from '../arguments.ts';
import { runInterruptibly } from '../signals.ts';

const HELP = `
The changes that two handlers received, one of them slow, are compared with the log of the server.
A machine that is too slow for the rate sends all changes as well, and takes longer.
Exit code 0: nothing was lost, duplicated or reordered. 1: something was. 130: interrupted.`;

export interface DemoFlags {
  readonly json?: boolean;
  readonly pods: number;
  readonly objectBytes: number;
  /** Changes a second. */
  readonly rate: number;
  /** Seconds. */
  readonly duration: number;
  readonly threads?: number;
  readonly codec: Codec;
}

/** @param run returns the exit code */
export function demoCommand(run: (flags: DemoFlags, signal: AbortSignal) => Promise<number>): Command {
  return new Command('demo')
    .description('run an informer under load against an embedded apiserver, and check every event')
    .addHelpText('after', HELP)
    .option('--json', 'print the result as one JSON object on stdout')
    .option('--pods <count>', 'pods at the start', parsePods, 10_000)
    .option('--object-bytes <bytes>', 'size of a pod', parseObjectBytes, 1024)
    .option('--rate <rate>', 'changes a second', parseFixedRate, 20_000)
    .option('--duration <seconds>', 'duration of the load at that rate', parseSeconds, 10)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--codec <codec>', 'how objects are kept: json or msgpack', parseCodec, 'json')
    .action((flags: DemoFlags) => runInterruptibly((signal) => run(flags, signal)));
}

/** `kubeloom demo` (`npm start`): the main job, measured and checked, with nothing but Node. */
import { Command } from 'commander';
import type { Codec } from '../options.ts';
import {
  parseCodec,
  parseObjectBytes,
  parsePods,
  parseRate,
  parseSeconds,
  parseThreads,
} from './arguments.ts';
import type { Rate } from './arguments.ts';
import { progressOn } from './demo-progress.ts';
import { EXIT_CODES, conclude, conclusionText, reportText } from './demo-report.ts';
import type { DemoPlan } from './demo-run.ts';
import { listenForInterruption } from './signals.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: Rate;
  readonly duration: number;
  readonly threads?: number;
  readonly codec: Codec;
}

const EXIT_CODES_TEXT = `
What two handlers, one of them slow, were told is compared with the log of the server.
Exit code 0: nothing was lost, duplicated or reordered. 1: something was. 2: too little load was sent.`;
const EXIT_INTERRUPTED = 130;

export function demoCommand(): Command {
  return new Command('demo')
    .description('run an informer under load against an embedded apiserver, and check every event')
    .addHelpText('after', EXIT_CODES_TEXT)
    .option('--json', 'print the result as one JSON object on stdout')
    .option('--pods <count>', 'pods at the start', parsePods, 10_000)
    .option('--object-bytes <bytes>', 'size of a pod', parseObjectBytes, 1024)
    .option('--rate <rate>', 'changes a second, or "max": as many as the informer takes', parseRate, 20_000)
    .option('--duration <seconds>', 'how long', parseSeconds, 10)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--codec <codec>', 'how objects are kept: json or msgpack', parseCodec, 'json')
    .action(demo);
}

async function demo(flags: DemoFlags): Promise<void> {
  using interruption = listenForInterruption();
  const progress = progressOn(process.stderr, flags.json === true);
  const plan: DemoPlan = {
    pods: flags.pods,
    objectBytes: flags.objectBytes,
    rate: flags.rate,
    durationSeconds: flags.duration,
    codec: flags.codec,
    ...(flags.threads === undefined ? {} : { threads: flags.threads }),
  };
  try {
    const { runDemo } = await import('./demo-run.ts');
    const { report, handlers } = await runDemo(plan, progress, interruption.signal);
    const conclusion = conclude(report, handlers, plan);
    process.exitCode = EXIT_CODES[conclusion.kind];
    if (flags.json !== true) {
      console.log(`\n${reportText(report, handlers, conclusion)}`);
      return;
    }
    console.log(JSON.stringify(report));
    if (conclusion.kind !== 'PASS') console.error(conclusionText(conclusion));
  } catch (error) {
    // Its own end, and whatever fails with it: the apiserver's process got the same signal.
    if (!interruption.signal.aborted) throw error;
    console.error('interrupted');
    process.exitCode = EXIT_INTERRUPTED;
  }
}

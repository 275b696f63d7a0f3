/** `kubeloom demo` (`npm start`): the main job, measured and checked, with nothing but Node. */
import { Command } from 'commander';
import {
  parseCodec,
  parseObjectBytes,
  parsePods,
  parseFixedRate,
  parseSeconds,
  parseThreads,
} from './arguments.ts';
import { progressOn } from './progress.ts';
import type { Progress } from './progress.ts';
import { EXIT_CODES, conclude, conclusionText, reportText } from './demo-report.ts';
import type { DemoPlan } from './demo-run.ts';
import type { DemoFlags } from './flags.ts';
import { listenForInterruption } from './signals.ts';

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
    .option('--rate <rate>', 'changes a second', parseFixedRate, 20_000)
    .option('--duration <seconds>', 'duration of the load', parseSeconds, 10)
    .option('--threads <count>', 'indexer threads; 0: everything in one thread', parseThreads)
    .option('--codec <codec>', 'how objects are kept: json or msgpack', parseCodec, 'json')
    .action(demo);
}

async function demo(flags: DemoFlags): Promise<void> {
  using interruption = listenForInterruption();
  const progress = progressOn(process.stderr, flags.json === true);
  try {
    process.exitCode = await runAndPrint(planOf(flags), flags, progress, interruption.signal);
  } catch (error) {
    // An interruption also ends the apiserver's process, so every failure after it is expected.
    if (!interruption.signal.aborted) throw error;
    console.error('interrupted');
    process.exitCode = EXIT_INTERRUPTED;
  }
}

/** Resolves with the exit code. */
async function runAndPrint(
  plan: DemoPlan,
  flags: DemoFlags,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { runDemo } = await import('./demo-run.ts');
  const { report, handlers } = await runDemo(plan, progress, signal);
  const conclusion = conclude(report, handlers, plan);
  if (flags.json !== true) console.log(`\n${reportText(report, handlers, conclusion)}`);
  else {
    console.log(JSON.stringify(report));
    if (conclusion.kind !== 'PASS') console.error(conclusionText(conclusion));
  }
  return EXIT_CODES[conclusion.kind];
}

function planOf(flags: DemoFlags): DemoPlan {
  return {
    pods: flags.pods,
    objectBytes: flags.objectBytes,
    rate: flags.rate,
    durationSeconds: flags.duration,
    codec: flags.codec,
    ...(flags.threads === undefined ? {} : { threads: flags.threads }),
  };
}

/** The process that writes; separate, so that the work does not delay watchers. */
import { KubeloomError } from '../../../base/errors.ts';
import { answerCalls, sendReport } from '../process/calls.ts';
import { reportCost } from '../process/cost.ts';
import type { ProcessCost } from '../process/cost.ts';
import type { LiveLatencies } from '../live.ts';
import type { CreatePhase, Load } from '../workload/workload.ts';
import { Generator } from './generator.ts';
import type { GeneratorProgress, GeneratorTask, WriteOutcome } from './generator.ts';

export interface GeneratorCalls {
  start(task: GeneratorTask): Promise<void>;
  create(phase: CreatePhase): Promise<WriteOutcome>;
  load(phase: { readonly load: Load; readonly durationMs: number }): Promise<WriteOutcome>;
  stop(nothing: undefined): Promise<void>;
}

export interface GeneratorReport {
  readonly cost: ProcessCost;
  readonly progress: GeneratorProgress;
  readonly latencies: LiveLatencies;
}

const NO_LATENCIES: LiveLatencies = { dueToSent: null, sentToAnswered: null };
const NO_PROGRESS: GeneratorProgress = { due: 0, sent: 0, answered: 0, failed: 0 };

let generator: Generator | undefined;

function started(): Generator {
  if (generator) return generator;
  throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'the generator was called before its start');
}

answerCalls<GeneratorCalls>({
  async start(task) {
    generator = new Generator(task);
  },
  create: (phase) => started().create(phase),
  load: ({ load, durationMs }) => started().load(load, durationMs),
  async stop() {
    generator?.stop();
  },
});

reportCost((cost) => {
  const report: GeneratorReport = {
    cost,
    progress: generator?.progress ?? NO_PROGRESS,
    latencies: generator?.latencies ?? NO_LATENCIES,
  };
  sendReport(report);
});

/** A synced informer with one handler, for tests of listeners, and promises that a test settles. */
import type { ResourceEventHandler } from '../../../../src/replica/deliver/handler.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import { ScriptedReplica } from '../store/scripted-replica.ts';
import { newListener, recordingHandler } from './recording-handler.ts';
import type { ListenerOptions } from '../../../../src/replica/deliver/processor-listener.ts';
import type { Reaction, Reports } from './recording-handler.ts';

export interface Scene {
  readonly replica: ScriptedReplica;
  readonly processor: SharedProcessor;
  readonly calls: string[];
  readonly listener: ProcessorListener;
  readonly reports: Reports;
  /** Adds another handler. */
  readonly join: (handler: ResourceEventHandler<unknown>) => ReturnType<typeof newListener>;
}

/** Returns a synced, empty informer with one handler, or one that records its calls, which has received nothing yet. */
export function scene(react?: Reaction, options: Partial<ListenerOptions> = {}): Scene {
  const processor = new SharedProcessor();
  const replica = new ScriptedReplica({ listener: processor });
  replica.relist();
  const { table } = replica.owner;
  const calls: string[] = [];
  const { listener, reports } = newListener(recordingHandler(calls, react), { table, ...options });
  processor.add(listener, replica.replica);
  listener.deliver(Infinity);
  const join: Scene['join'] = (handler) => {
    const joined = newListener(handler, { table });
    processor.add(joined.listener, replica.replica);
    return joined;
  };
  return { replica, processor, calls, listener, reports, join };
}

/** Promises that a test settles, in the order in which a handler returned them. */
export class Gates {
  readonly open: { resolve: () => void; reject: (error: Error) => void }[] = [];

  next(): Promise<void> {
    return new Promise((resolve, reject) => this.open.push({ resolve, reject }));
  }
}

/** Returns whether it was removed and its last call has returned. */
export async function isEnded(listener: ProcessorListener): Promise<boolean> {
  let isTrue = false;
  void listener.ended.then(() => (isTrue = true));
  await settled();
  return isTrue;
}

/** Waits until all promise reactions have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

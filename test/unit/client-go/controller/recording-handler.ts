/** A handler that records each call in one short line. */
import type { ObjectEventHandler } from '../../../../src/client-go/controller/process-deltas.ts';
import { isTombstone } from '../../../../src/kube/tombstone.ts';
import type { MaybeTombstone } from '../../../../src/client-go/queue/delta.ts';
import type { Pod } from './scripted-lister-watcher.ts';

export class RecordingHandler implements ObjectEventHandler<Pod> {
  readonly calls: string[] = [];
  /** Called after a call was recorded; it may throw, to let the call fail. */
  onCall: (call: string) => unknown = () => undefined;

  onAdd(object: Pod, isInInitialList: boolean): unknown {
    return this.#called(`add ${nameOf(object)}${isInInitialList ? ' initial' : ''}`);
  }

  onUpdate(oldObject: Pod, newObject: Pod): unknown {
    return this.#called(`update ${nameOf(oldObject)} ${nameOf(newObject)}`);
  }

  onDelete(object: MaybeTombstone<Pod>): unknown {
    if (!isTombstone(object)) return this.#called(`delete ${nameOf(object)}`);
    return this.#called(`missing ${object.key} ${object.object ? nameOf(object.object) : '?'}`);
  }

  take(): string[] {
    return this.calls.splice(0);
  }

  #called(call: string): unknown {
    this.calls.push(call);
    return this.onCall(call);
  }
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}

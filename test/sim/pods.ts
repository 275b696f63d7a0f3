/** Writes of a simulation: few keys, so that objects are created, changed, deleted and created again. */
import type { KubeObject } from '../../src/tools/apiserver/store/json.ts';
import type { Chance } from './chance.ts';
import type { SimulatedServer } from './server.ts';

export const NAMESPACES = ['one', 'two'] as const;
export const APPS = ['red', 'green', 'blue'] as const;
const NODES = 4;

export class Writer {
  readonly #server: SimulatedServer;
  readonly #chance: Chance;
  readonly #names: number;
  /** Limit of the bodies' padding, for seeds that fill the log. */
  readonly #paddingMax: number;
  readonly #uids: Map<string, string> = new Map();
  /** Labels of the objects at their last write: most changes are of status only. */
  readonly #labels: Map<string, Record<string, string>> = new Map();
  #writes = 0;

  constructor(server: SimulatedServer, chance: Chance) {
    this.#server = server;
    this.#chance = chance;
    this.#names = chance.integer(1, 20);
    this.#paddingMax = chance.happens(0.05) ? 40_000 : 200;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Makes one change of one random object. */
  write(): void {
    const chance = this.#chance;
    const namespace = chance.pick(NAMESPACES);
    const name = `pod-${chance.integer(1, this.#names)}`;
    const key = `${namespace}/${name}`;
    const exists = this.#server.collection.get(key) !== undefined;
    this.#writes++;
    if (exists && chance.happens(0.3)) {
      this.#server.delete(key);
      this.#uids.delete(key);
      if (chance.happens(0.5)) this.#labels.delete(key);
      return;
    }
    const uid = this.#uids.get(key) ?? `uid-${this.#writes}`;
    this.#uids.set(key, uid);
    this.#server.write(this.#pod(namespace, name, uid));
  }

  /** Gives some objects other bodies under their current versions, and makes every informer list. */
  rewrite(): void {
    const chance = this.#chance;
    const server = this.#server;
    for (const key of server.collection.keys()) {
      const stored = server.collection.get(key);
      if (!stored || chance.happens(0.5)) continue;
      const { namespace, name, uid, labels } = stored.identity;
      const pod = this.#pod(namespace, name, uid);
      server.rewrite({ ...pod, metadata: { ...pod.metadata, labels } }, stored);
    }
    // A new version, because an informer at the latest one could resume from there and would never see the bodies.
    this.write();
    server.log.compact(server.log.revision);
  }

  #pod(namespace: string, name: string, uid: string): KubeObject {
    const chance = this.#chance;
    const labels = this.#labelsOf(`${namespace}/${name}`);
    const strange = chance.happens(0.05)
      ? { annotations: { ['__proto__']: '\u2028 é "\\', constructor: 'x' } }
      : {};
    return {
      metadata: {
        name,
        namespace,
        uid,
        creationTimestamp: '2026-01-15T10:00:00Z',
        labels,
        ...strange,
        ...(chance.happens(0.9) ? { managedFields: [{ manager: 'kubelet', time: `${this.#writes}` }] } : {}),
      },
      spec: {
        nodeName: `node-${chance.integer(1, NODES)}`,
        padding: 'x'.repeat(chance.integer(0, this.#paddingMax)),
      },
      status: { phase: 'Running', write: this.#writes },
    };
  }

  #labelsOf(key: string): Record<string, string> {
    const chance = this.#chance;
    const before = this.#labels.get(key);
    if (before && chance.happens(0.7)) return before;
    const labels: Record<string, string> = chance.happens(0.1) ? {} : { app: chance.pick(APPS) };
    this.#labels.set(key, labels);
    return labels;
  }
}

/** Objects for the tests of the stores: Kubernetes objects, and client-go's two-field objects. */

import { Mark, mark } from '../../../../src/kube/meta-shape.ts';
export interface Pod {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export function pod(name: string, metadata: Omit<Pod['metadata'], 'name'> = {}): Pod {
  return { kind: 'Pod', metadata: { name, ...metadata } };
}

export interface Pair {
  readonly id: string;
  readonly value: string;
}

export function pair(id: string, value = ''): Pair {
  return { id, value };
}

export const idOf = ({ id }: Pair): string => id;

export const valueIndex = { by_val: ({ value }: Pair): readonly string[] => [value] };

/** A fake entry of an informer that records reads of its metadata. */
export class FakeEntry {
  static {
    mark(this.prototype, Mark.Entry);
  }

  readonly finalStateUnknown = false;
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid = 'uid-1';
  readonly resourceVersion = '42';
  readonly generation = 3;
  readonly deletionTimestamp = undefined;
  readonly labels = { app: 'web' };
  metadataReads = 0;

  constructor(namespace: string, name: string) {
    this.key = namespace === '' ? name : `${namespace}/${name}`;
    this.namespace = namespace;
    this.name = name;
  }

  get metadata(): object {
    this.metadataReads++;
    return { name: this.name, annotations: { note: 'kept' } };
  }
}

/**
 * The objects that a ListWatch delivered, in client-node's order: by namespace, then by the time of the first delivery.
 * Each object is converted once, when a callback or the program reads it. The objects stay readable while the informer
 * is stopped, and are compared with the next informer's list.
 */
import type { CachedObject, Wire } from '../index.ts';

/** State of an object, converted or not. */
export class Delivered<T> {
  #entry: CachedObject<Wire<T>>;
  readonly #convert: (entry: CachedObject<Wire<T>>) => T;
  #object: T | undefined;

  constructor(entry: CachedObject<Wire<T>>, convert: (entry: CachedObject<Wire<T>>) => T) {
    this.#entry = entry;
    this.#convert = convert;
  }

  /** The same object for every reader. */
  get object(): T {
    return (this.#object ??= this.#convert(this.#entry));
  }

  get resourceVersion(): string {
    return this.#entry.resourceVersion;
  }

  /** Takes over the same state from another informer, so that memory of the stopped informer can be freed. */
  moveTo(entry: CachedObject<Wire<T>>): void {
    this.#entry = entry;
  }
}

interface Name {
  readonly namespace: string;
  readonly name: string;
}

export class DeliveredObjects<T> {
  readonly #namespaces: Map<string, Map<string, Delivered<T>>> = new Map();

  get({ namespace, name }: Name): Delivered<T> | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace, name }: Name, delivered: Delivered<T>): void {
    let objects = this.#namespaces.get(namespace);
    if (!objects) {
      objects = new Map();
      this.#namespaces.set(namespace, objects);
    }
    objects.set(name, delivered);
  }

  delete({ namespace, name }: Name): void {
    const objects = this.#namespaces.get(namespace);
    if (objects?.delete(name) && objects.size === 0) this.#namespaces.delete(namespace);
  }

  /** @param namespace '' for all */
  list(namespace: string): T[] {
    const found: T[] = [];
    const namespaces = namespace === '' ? this.#namespaces.keys() : [namespace];
    for (const each of namespaces) {
      for (const { object } of this.#namespaces.get(each)?.values() ?? []) found.push(object);
    }
    return found;
  }

  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }

  /** Removes and returns the objects that are not among these. */
  removeOthers(kept: readonly CachedObject<Wire<T>>[]): Delivered<T>[] {
    const keys = new Set(kept.map(({ key }) => key));
    const others = Array.from(this.#all()).filter(([name]) => !keys.has(keyOf(name)));
    for (const [name] of others) this.delete(name);
    return others.map(([, delivered]) => delivered);
  }

  *#all(): Generator<readonly [Name, Delivered<T>]> {
    for (const [namespace, objects] of this.#namespaces) {
      for (const [name, delivered] of objects) yield [{ namespace, name }, delivered];
    }
  }
}

function keyOf({ namespace, name }: Name): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

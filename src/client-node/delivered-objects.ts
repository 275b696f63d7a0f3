/**
 * The objects that a ListWatch delivered, in client-node's order: by namespace, then by the time of the first delivery. They
 * stay readable while the informer is stopped, and are compared with the next informer's list.
 *
 * The ListWatch keeps the bytes of an object. In most programs, an object that was parsed for a callback is garbage after
 * the call, and a reference would move the object to V8's old space, at twice the CPU time. The cache of parsed objects
 * decides which objects stay.
 */
import type { Borrowed, ObjectIdentity, Wire } from '../index.ts';
import { HeldState } from '../informer/held-state.ts';

/** Returns the object that programs receive for the JSON, which it takes over. */
export type Convert<T> = (json: unknown) => T;

/** State of an object. */
export class Delivered<T> {
  #state: HeldState<Wire<T>>;
  readonly #convert: Convert<T>;
  /** The object, while the cache of parsed objects has it. */
  #cached: T | undefined;
  /** The object that a reader may hold. */
  #read: WeakRef<T & object> | undefined;
  forgottenAtKiB = 0;

  constructor(entry: Borrowed<Wire<T>>, convert: Convert<T>) {
    this.#state = new HeldState(entry);
    this.#convert = convert;
  }

  /** Returns the object for callbacks. */
  deliver(): T {
    if (this.#cached) return this.#cached;
    const object = this.#object();
    this.#cached = object;
    this.#state.rememberBriefly(this);
    return object;
  }

  /** Returns the same object to every reader as long as a reader holds it. */
  read(): T {
    const object = this.#object();
    if (this.#read?.deref() !== object) this.#read = new WeakRef(object as T & object);
    if (this.#cached) return object;
    this.#cached = object;
    this.#state.rememberRead(this);
    return object;
  }

  #object(): T {
    return this.#cached ?? this.#read?.deref() ?? this.#state.read((entry) => this.#convert(entry.copy()));
  }

  forgetDecoded(): void {
    this.#cached = undefined;
    this.forgottenAtKiB = this.#state.parsedKiB;
  }

  get identity(): ObjectIdentity {
    return this.#state.read((entry) => entry);
  }

  /** Takes over the same state from another informer, so that memory of the stopped informer can be freed. */
  moveTo(same: Delivered<T>): void {
    // The cache of the stopped informer forgets no more.
    this.#cached = undefined;
    this.#state = same.#state;
  }

  /** Ends the state: the object is no longer read. */
  release(): void {
    this.#cached = undefined;
    this.#state.release();
  }
}

/** The name of an object in a namespace. */
export interface Name {
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
      for (const delivered of this.#namespaces.get(each)?.values() ?? []) found.push(delivered.read());
    }
    return found;
  }

  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }

  /** Returns the objects that are not among these. */
  others(kept: readonly Delivered<T>[]): (readonly [Name, Delivered<T>])[] {
    const keys = new Set(kept.map(({ identity }) => identity.key));
    return Array.from(this.#all()).filter(([name]) => !keys.has(keyOf(name)));
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

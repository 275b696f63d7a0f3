/**
 * Evaluates the indexers of one informer for one entry. It reuses the values of the entry's predecessor where they
 * cannot have changed.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { Entry } from './entry.ts';
import { NAMESPACE_INDEX, isProjected, namespaceIndex, projectedValues } from './index-functions.ts';
import type { IndexFunction, Indexers } from './index-functions.ts';

export type IndexValues = readonly (readonly string[])[];

export class IndexSet {
  readonly #indexers: Map<string, IndexFunction> = new Map([[NAMESPACE_INDEX, namespaceIndex()]]);
  readonly #onError: (error: KubeloomError, key: string) => void;
  /** Number of declared fields; the extracted fields after them are the values of index modules. */
  fieldCount: number;
  #hasPlain = false;
  /** True while the only index is the one that every informer has. */
  #isPlain = true;
  /** Values of the latest new object. Listed objects of one namespace come in a row and share them. */
  #ofNamespace: IndexValues = [[]];

  constructor(indexers: Indexers, fieldCount: number, onError: (error: KubeloomError, key: string) => void) {
    this.#onError = onError;
    this.fieldCount = fieldCount;
    for (const [name, indexer] of Object.entries(indexers)) this.#set(name, indexer);
  }

  get names(): readonly string[] {
    return [...this.#indexers.keys()];
  }

  get indexers(): Indexers {
    return Object.fromEntries(this.#indexers);
  }

  /** Adds all or none: one existing name rejects the whole call (client-go: "indexer conflict"). */
  add(indexers: Indexers): void {
    const conflicts = Object.keys(indexers).filter((name) => this.#indexers.has(name));
    if (conflicts.length > 0) {
      throw new KubeloomError(
        'ERR_KUBELOOM_INDEXER_CONFLICT',
        `indexer conflict: ${conflicts.join(', ')} exist${conflicts.length > 1 ? '' : 's'} already; nothing was added`,
      );
    }
    for (const [name, indexer] of Object.entries(indexers)) this.#set(name, indexer);
  }

  /** Returns the values. Runs user functions, so call it before anything changes. */
  valuesOf(entry: Entry, previous: { entry: Entry; values: IndexValues } | undefined): IndexValues {
    const isSame = previous?.entry === entry;
    const isUnchanged = previous !== undefined && previous.entry.projection.equals(entry.projection);
    const isComplete = previous?.values.length === this.#indexers.size;
    if (isUnchanged && isComplete && (isSame || !this.#hasPlain)) return previous.values;
    if (this.#isPlain) return previous?.values ?? this.#namespaceValues(entry);
    const values: (readonly string[])[] = [];
    for (const [name, indexer] of this.#indexers) {
      const before = previous?.values[values.length];
      if (before !== undefined && (isSame || (isUnchanged && isProjected(indexer)))) values.push(before);
      else if (isProjected(indexer)) values.push(projectedValues(name, indexer, entry, this.fieldCount));
      else values.push(this.#plainValues(name, indexer, entry));
    }
    return previous && isEqual(previous.values, values) ? previous.values : values;
  }

  #namespaceValues({ namespace }: Entry): IndexValues {
    const [values] = this.#ofNamespace;
    if ((values?.[0] ?? '') !== namespace) this.#ofNamespace = [namespace === '' ? [] : [namespace]];
    return this.#ofNamespace;
  }

  #plainValues(name: string, indexer: (entry: Entry) => readonly string[], entry: Entry): readonly string[] {
    entry.owner.borrow(entry);
    try {
      return [...new Set(indexer(entry))];
    } catch (cause) {
      const message = `index function ${name} threw for ${entry.key}; the object has no values in this index`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_INDEX_FUNCTION', message, { cause }), entry.key);
      return [];
    } finally {
      entry.owner.endBorrow(entry, `index function ${name}`);
    }
  }

  #set(name: string, indexer: IndexFunction): void {
    this.#indexers.set(name, indexer);
    this.#isPlain = false;
    if (!isProjected(indexer)) this.#hasPlain = true;
  }
}

function isEqual(a: IndexValues, b: IndexValues): boolean {
  return (
    a.length === b.length &&
    a.every((values, index) => {
      const others = b[index];
      return others?.length === values.length && values.every((value, place) => value === others[place]);
    })
  );
}

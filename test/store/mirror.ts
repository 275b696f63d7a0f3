/**
 * A handler's view: applies notifications to a map, and refuses whatever does not follow from what it was
 * told before.
 */
import assert from 'node:assert/strict';

import type { Delivery, DeliveryCursor } from '../../src/store/deliveries.ts';
import type { Entry } from '../../src/store/entry.ts';

export class Mirror {
  readonly objects: Map<string, Entry> = new Map();
  told = 0;

  change(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    this.told++;
    const entry = newEntry ?? oldEntry;
    assert.ok(entry);
    const { key } = entry;
    assert.ok(entry.holds > 0, `${key} is told of, but nobody holds it`);
    const known = this.objects.get(key);
    if (newEntry && oldEntry) assert.equal(known, oldEntry, `update of ${key} from a state nobody told of`);
    else if (newEntry) assert.equal(known, undefined, `${key} is added twice`);
    if (known && newEntry) {
      assert.ok(Number(newEntry.version) >= Number(known.version), `${key} goes back`);
    }
    if (newEntry) this.objects.set(key, newEntry);
    else this.objects.delete(key);
  }

  /** Reads a cursor to its end; returns what it told. */
  drain(cursor: DeliveryCursor): Delivery[] {
    const all: Delivery[] = [];
    for (;;) {
      const out: Delivery = {
        oldEntry: undefined,
        newEntry: undefined,
        isInInitialList: false,
        isFinalStateUnknown: false,
      };
      if (!cursor.next(out)) return all;
      if (!out.oldEntry && !out.newEntry) continue;
      this.change(out.oldEntry, out.newEntry);
      out.oldEntry?.letGo();
      out.newEntry?.letGo();
      all.push(out);
    }
  }

  /** Told of exactly what is there, in its latest state, as the very entries. */
  checkEqual(entries: Iterable<Entry>): void {
    const expected = new Map([...entries].map((entry) => [entry.key, entry]));
    assert.deepEqual([...this.objects.keys()].sort(), [...expected.keys()].sort());
    for (const [key, entry] of expected) assert.equal(this.objects.get(key), entry, `${key} differs`);
  }
}

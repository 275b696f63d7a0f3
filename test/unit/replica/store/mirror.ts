/** A handler's view: applies notifications to a map, and fails on one that does not follow from the previous ones. */
import assert from 'node:assert/strict';
import { emptyDelivery } from '../../../../src/replica/store/deliveries.ts';
import type { Delivery, DeliveryCursor } from '../../../../src/replica/store/deliveries.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { tableOf } from './objects.ts';

export class Mirror {
  readonly objects: Map<string, Entry> = new Map();
  received = 0;

  /** @param newEntry undefined for a deletion */
  change(oldEntry: Entry | undefined, newEntry: Entry | undefined): void {
    this.received++;
    const entry = newEntry ?? oldEntry;
    assert.ok(entry);
    const { key } = entry;
    assert.ok(tableOf(entry).referencesOf(entry.row) > 0, `${key} is delivered without a reference`);
    const known = this.objects.get(key);
    if (newEntry && oldEntry)
      assert.equal(known?.version, oldEntry.version, `update of ${key} from a state that was not delivered`);
    else if (newEntry) assert.equal(known, undefined, `${key} is added twice`);
    if (known && newEntry) {
      assert.ok(Number(newEntry.version) >= Number(known.version), `${key} goes back`);
    }
    if (newEntry) this.objects.set(key, newEntry);
    else this.objects.delete(key);
  }

  /** Reads a cursor to its end; returns what it delivered. */
  drain(cursor: DeliveryCursor): Delivery[] {
    const all: Delivery[] = [];
    for (let out = emptyDelivery(); cursor.next(out); out = emptyDelivery()) {
      if (!out.oldEntry && !out.newEntry) continue;
      this.change(out.oldEntry, out.newEntry);
      out.oldEntry?.dropReference();
      out.newEntry?.dropReference();
      all.push(out);
    }
    return all;
  }

  /** Checks that it received exactly the latest entries of all objects. */
  checkEqual(entries: Iterable<Entry>): void {
    const expected = new Map([...entries].map((entry) => [entry.key, entry]));
    assert.deepEqual([...this.objects.keys()].sort(), [...expected.keys()].sort());
    for (const [key, entry] of expected) {
      assert.equal(this.objects.get(key)?.version, entry.version, `${key} differs`);
    }
  }
}

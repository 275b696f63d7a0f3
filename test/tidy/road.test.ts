/** The table "the road of an event" of docs/architecture.md, compared with what runs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FILES_OF_A_BATCH_MAX, FILES_OF_AN_EVENT_MAX } from './house.ts';
import { measureRoads } from './road.ts';

const ARCHITECTURE = fileURLToPath(new URL('../../../docs/architecture.md', import.meta.url));

/** Returns the files in one column of the table, whose rows begin with a room in backticks. */
function documented(column: 1 | 2 | 3): string[] {
  const [, section = ''] = readFileSync(ARCHITECTURE, 'utf8').split(/^## The road of an event$/m);
  const rows = section.split(/^## /m)[0]?.match(/^\| `.*$/gm) ?? [];
  return rows
    .flatMap((row) => {
      const [room = '', ...cells] = row.split('|').slice(1).map(codeIn);
      return (cells[column - 1] ?? []).map((file) => `src/${String(room)}/${file}`);
    })
    .toSorted();
}

const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('the roads of an event, of a batch and of a list item in docs/architecture.md are those that V8 sees', async (context) => {
  const { event, batch, listed } = await measureRoads();
  context.diagnostic(`${event.length} files an event, ${batch.length} a batch, ${listed.length} a list item`);
  assert.deepEqual(documented(1), event, 'column 1, a MODIFIED event');
  assert.deepEqual(documented(2), batch, 'column 2, a batch of events');
  assert.deepEqual(documented(3), listed, 'column 3, an item of a list');
  assert.ok(event.length <= FILES_OF_AN_EVENT_MAX);
  assert.ok(batch.length <= FILES_OF_A_BATCH_MAX);
});

/**
 * Runs the same programs with client-node's informer and with kubeloom's, each against a scripted apiserver, and compares
 * what they receive. A difference that the document does not have fails, and so does one that has disappeared.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import * as installed from '@kubernetes/client-node';
import { InformerThreads } from '../../../src/index.ts';
import { ROOT } from '../docs/documents.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import { SCENARIOS_OF_OBJECTS } from './scenarios-of-objects.ts';
import { SCENARIOS_OF_PROGRAMS } from './scenarios-of-programs.ts';
import { SCENARIOS_OF_SERVERS } from './scenarios-of-servers.ts';
import { clientOf } from './stage.ts';
import type { Client, Clients } from './stage.ts';

const GROUPS: readonly Scenarios[] = [SCENARIOS_OF_SERVERS, SCENARIOS_OF_PROGRAMS, SCENARIOS_OF_OBJECTS];
const SCENARIOS: Scenarios = Object.fromEntries(GROUPS.flatMap((group) => Object.entries(group)));
/** Node that loads client-node 2. */
const NODE_MIN = 22;

const threads = new InformerThreads({ indexerThreads: 0 });
after(() => threads.close());

const majors: [string, Clients][] = [['client-node 1', installed]];
if (Number.parseInt(process.versions.node, 10) >= NODE_MIN) {
  const name: string = 'client-node-2';
  majors.push(['client-node 2', (await import(name)) as Clients]);
}

async function resultOf({ steps, options }: Scenario, client: Client): Promise<unknown> {
  await using stage = await client(options);
  const result: unknown = JSON.parse(JSON.stringify(await steps(stage)));
  return result;
}

test('no two scenarios have one title: a later scenario would replace the earlier scenario', () => {
  const titles = GROUPS.flatMap((group) => Object.keys(group));
  assert.deepEqual(titles, Object.keys(SCENARIOS));
});

for (const [name, clientNode] of majors) {
  describe(`kubeloom's informer beside the informer of ${name}`, () => {
    for (const [title, scenario] of Object.entries(SCENARIOS)) {
      test(title, async () => {
        const { expected, kubeloom } = scenario;
        assert.deepEqual(await resultOf(scenario, clientOf(clientNode)), expected, name);
        const own = kubeloom ? kubeloom.expected : expected;
        assert.deepEqual(await resultOf(scenario, clientOf(clientNode, threads)), own, 'kubeloom');
        if (kubeloom) assert.notDeepEqual(own, expected);
      });
    }
  });
}

describe('the differences from client-node', () => {
  const document = readFileSync(`${ROOT}/docs/migrating-from-client-node.md`, 'utf8');
  const [, table = ''] = /\n\| what \| client-node \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/.exec(document) ?? [];

  test('are the rows of the document', () => {
    const rows = Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, row = '']) => row);
    const compared = new Set(Object.values(SCENARIOS).flatMap(({ kubeloom }) => kubeloom?.row ?? []));
    assert.deepEqual([...rows].sort(), [...compared].sort());
  });

  test('are found by scenarios that cover the behaviours of client-node’s own tests', () => {
    assert.equal(Object.values(SCENARIOS).flatMap(({ covers = [] }) => covers).length, 31);
  });
});

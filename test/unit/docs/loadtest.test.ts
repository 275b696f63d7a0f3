/** The tables of docs/loadtest.md and docs/loadtest-workload.md, compared with the schema of workloads, the presets, the thresholds and the exit codes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { EXIT_CODES } from '../../../src/tools/loadtest/run/conclude.ts';
import { DEAD_AFTER_MS } from '../../../src/tools/loadtest/run/dead-runs.ts';
import { parseThreshold } from '../../../src/tools/loadtest/workload/threshold.ts';
import { PRESETS, presetText } from '../../../src/tools/loadtest/workload/presets.ts';
import { readWorkload } from '../../../src/tools/loadtest/workload/read-workload.ts';
import { ROOT } from './documents.ts';

const PAGE = ['docs/loadtest.md', 'docs/loadtest-workload.md']
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema | true>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly description?: string;
  readonly default?: unknown;
}

const SCHEMA = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('kubeloom/workload.schema.json'), 'utf8'),
) as Schema & { readonly $defs: Readonly<Record<string, Schema>> };

function resolved({ $ref, ...own }: Schema): Schema {
  return { ...($ref === undefined ? {} : SCHEMA.$defs[$ref.slice($ref.lastIndexOf('/') + 1)]), ...own };
}

/** Returns a row for each member: its name, what it takes, and its default. */
function rowsOf(schema: Schema, isOwn: (name: string) => boolean = () => true): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    if (member === true || !isOwn(name)) return [];
    const { description = '', default: standard } = resolved(member);
    const text = standard === undefined ? '' : ` \`${JSON.stringify(standard)}\``;
    return [`| \`${name}\` | ${description} |${text} |`];
  });
}

/** Returns the rows of the first table behind a heading, without their last column. */
function tableBehind(heading: string): string[] {
  const start = PAGE.indexOf(`\n${heading}\n`);
  assert.ok(start >= 0, `there is no ${heading}`);
  const [table = ''] = /^\|.*(?:\n\|.*)*/m.exec(PAGE.slice(start)) ?? [];
  return table.split('\n').slice(2);
}

const withoutMeaning = (row: string): string => row.replace(/ [^|]*\|$/, '').replace(/\| +\|$/, '| |');

const { phase, objects, watchers, load } = SCHEMA.$defs;
const TABLES: readonly (readonly [heading: string, rows: readonly string[]])[] = [
  ['## The file', rowsOf(SCHEMA)],
  ['## objects', rowsOf(objects ?? {})],
  ['## watchers', rowsOf(watchers ?? {})],
  ['## A load', rowsOf(load ?? {})],
  ['## limits', rowsOf(resolved(SCHEMA.properties?.['limits'] as Schema))],
];

for (const [heading, rows] of TABLES) {
  test(`docs/loadtest-workload.md has a row for every member: ${heading}`, () => {
    assert.ok(rows.length > 1);
    assert.deepEqual(tableBehind(heading).map(withoutMeaning), rows, rows.join('\n'));
  });
}

test('docs/loadtest-workload.md has a row for every phase, with its own members', () => {
  const rows = Object.entries(phase?.properties ?? {}).map(([name, member]) => {
    const own = Object.entries((member as Schema).properties ?? {});
    const isLoad = (member as Schema).$ref !== undefined;
    const members = own.flatMap(([each, value]) => (value === true ? [] : [`\`${each}\``]));
    return `| \`${name}\` | ${[...members, ...(isLoad ? ['a load'] : [])].join(', ')} |`;
  });
  assert.deepEqual(tableBehind('## phases').map(withoutMeaning), rows, rows.join('\n'));
});

test('docs/loadtest.md has a row for every preset, with its first comment', () => {
  const rows = PRESETS.map((preset) => `| \`${preset}\` | ${/^# (.*)/.exec(presetText(preset))?.[1]} |`);
  assert.deepEqual(tableBehind('## Presets'), rows, rows.join('\n'));
});

test('docs/loadtest.md has a row for every conclusion, with its exit code', () => {
  const rows = Object.entries(EXIT_CODES).map(([kind, code]) => `| ${code} | ${kind} |`);
  assert.deepEqual(tableBehind('## Exit codes').map(withoutMeaning), rows);
});

test('the thresholds of docs/loadtest-workload.md can be read', () => {
  const lines = tableBehind('## thresholds').map((row) => /^\| `(.*?)`/.exec(row)?.[1] ?? '');
  assert.ok(lines.length > 5);
  for (const line of lines) parseThreshold(line);
});

test('the workloads of docs/loadtest.md and of its Job can be run', () => {
  const workloads = [...PAGE.matchAll(/^```yaml\n(objects:[^]*?)^```$/gm)].map(([, text = '']) => text);
  const job = readFileSync(join(ROOT, 'docs/loadtest/job.yaml'), 'utf8');
  for (const document of parseAllDocuments(job)) {
    const data = document.toJS() as { readonly data?: Readonly<Record<string, string>> };
    workloads.push(...Object.values(data.data ?? {}));
  }
  assert.ok(workloads.length >= 2);
  for (const workload of workloads) readWorkload(workload, 'workload', {}, 1);
});

test('the Job of docs/loadtest.md runs as many indexes as it says to each of them', () => {
  const job = readFileSync(join(ROOT, 'docs/loadtest/job.yaml'), 'utf8');
  const [, { spec }] = parseAllDocuments(job).map((document) => document.toJS() as JobFile) as [
    JobFile,
    JobFile,
  ];
  const { args } = spec.template.spec.containers[0] ?? { args: [] };
  const indexes = Number(args[args.indexOf('--indexes') + 1]);
  assert.deepEqual([spec.completionMode, spec.completions, spec.parallelism], ['Indexed', indexes, indexes]);
});

interface JobFile {
  readonly spec: {
    readonly completionMode: string;
    readonly completions: number;
    readonly parallelism: number;
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

test('docs/loadtest.md says after which time a run is dead', () => {
  assert.match(PAGE, new RegExp(`${DEAD_AFTER_MS / 60_000} minutes`));
});

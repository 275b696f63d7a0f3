/** The tables of docs/scale.md, between its markers: what a deployment costs, what a number of partitions costs, unit costs. */
import { billOf, courseOf } from './estimate.ts';
import type { Bill, Deployment, Gaps } from './estimate.ts';
import { UNIT_COSTS } from './unit-costs.ts';

export const TABLE_NAMES = ['bill', 'partitions', 'unit costs'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

const LARGE = { objects: 10_000_000, changesPerSecond: 100_000, members: 50, partitions: 128 };

/** Columns of the bill. The last is the largest that one etcd holds. */
export const DEPLOYMENTS: readonly (readonly [name: string, deployment: Deployment])[] = [
  ['the server filters', { ...LARGE, isFiltered: true }],
  ['it ignores the selector', { ...LARGE, isFiltered: false }],
  ['one process', { ...LARGE, members: 1, partitions: 1, isFiltered: true }],
  [
    '1 million, 1,000/s: 4 members, 16 partitions',
    { objects: 1_000_000, changesPerSecond: 1000, members: 4, partitions: 16, isFiltered: true },
  ],
];

const PARTITION_COUNTS = [16, 64, 128, 400, 800];

export function tableOf(name: TableName): string {
  if (name === 'bill') return billTable();
  return name === 'partitions' ? partitionsTable() : unitCostsTable();
}

export function beginOf(name: TableName): string {
  return `<!-- ${name}: written by npm run scale -->`;
}

export const END = '<!-- end of table -->';

/** Returns the page with every table written anew. */
export function withTables(page: string): string {
  let written = page;
  for (const name of TABLE_NAMES) {
    const begin = written.indexOf(beginOf(name)) + beginOf(name).length;
    const end = written.indexOf(END, begin);
    if (end < begin) throw new Error(`docs/scale.md has no place for the table '${name}'`);
    written = `${written.slice(0, begin)}\n\n${tableOf(name)}\n\n${written.slice(end)}`;
  }
  return written;
}

type Line = readonly [name: string, cellOf: (bill: Bill, deployment: Deployment) => string];

const BILL_LINES: readonly Line[] = [
  ['**All**: watches', ({ watches }) => count(watches)],
  ['events sent by the servers', ({ sentPerSecond }) => `${count(sentPerSecond)}/s`],
  ['bytes sent', ({ sentBytesPerSecond }) => `${bytes(sentBytesPerSecond)}/s`],
  ['first lists, all members at once', ({ firstListBytes }) => bytes(firstListBytes)],
  ['writes of Leases', ({ leaseWritesPerSecond }) => `${count(leaseWritesPerSecond)}/s`],
  ['servers: match and hand over', ({ server }) => cores(server.watchCores)],
  ['servers: encode the events once', ({ server }) => cores(server.encodeCores)],
  ['servers: cache, each at least', ({ server }) => bytes(server.cacheBytes)],
  ['**The busiest member**: objects', ({ member }) => count(member.objects)],
  ['events that it reads', ({ member }) => `${count(member.receivedPerSecond)}/s`],
  ['events that its handlers see', ({ member }) => `${count(member.ownPerSecond)}/s`],
  ['CPU, handlers read keys', ({ member }) => cores(member.keyCores)],
  ['CPU, handlers read whole objects', ({ member }) => cores(member.objectCores)],
  ['of that its main thread', ({ member }) => cores(member.mainObjectCores)],
  ['memory', ({ member }) => bytes(member.restBytes)],
  ['memory while it lists everything', ({ member }) => bytes(member.listBytes)],
  ['time of its first lists', ({ member }) => seconds(member.startMs)],
  [
    '**No member works a partition**, its member killed',
    incidentCell((it) => gaps(courseOf(it, 'kill').orphans)),
  ],
  ['its member leaves', incidentCell((it) => gaps(courseOf(it, 'leave').orphans))],
  ['it moves to a new member', incidentCell((it) => gaps(courseOf(it, 'join').moved))],
  ['rolling update: time, bytes listed', incidentCell(rollingUpdate)],
];

function billTable(): string {
  const bills = DEPLOYMENTS.map(([, deployment]) => ({ deployment, bill: billOf(deployment) }));
  return markdown(
    ['', ...DEPLOYMENTS.map(([name]) => name)],
    BILL_LINES.map(([name, cellOf]) => [
      name,
      ...bills.map(({ deployment, bill }) => cellOf(bill, deployment)),
    ]),
  );
}

function partitionsTable(): string {
  return markdown(
    [
      'partitions',
      'members without one',
      'busiest to average',
      'writes of Leases',
      'servers: watches',
      'list of a partition',
      'killed: its partitions; others that move',
      'moved to a new member',
    ],
    PARTITION_COUNTS.map((partitions) => {
      const deployment = { ...LARGE, partitions, isFiltered: true };
      const bill = billOf(deployment);
      const killed = courseOf(deployment, 'kill');
      const average = deployment.objects / deployment.members;
      return [
        count(partitions),
        count(Math.max(0, deployment.members - partitions)),
        `${(bill.member.objects / average).toFixed(2)}x`,
        `${count(bill.leaseWritesPerSecond)}/s`,
        cores(bill.server.watchCores),
        seconds(bill.partitionListMs),
        `${count(killed.orphans.count)}; ${count(killed.moved.count)}`,
        count(courseOf(deployment, 'join').moved.count),
      ];
    }),
  );
}

function unitCostsTable(): string {
  return markdown(
    ['cost', 'value', 'source'],
    Object.values(UNIT_COSTS).map(({ name, value, unit, source }) => [
      name,
      `${value.toLocaleString('en')} ${unit}`,
      source,
    ]),
  );
}

function incidentCell(cellOf: (deployment: Deployment) => string): Line[1] {
  return (_, deployment) => (deployment.members === 1 ? '–' : cellOf(deployment));
}

function gaps({ medianMs, maxMs }: Gaps): string {
  return `${seconds(medianMs)}, at most ${seconds(maxMs)}`;
}

function rollingUpdate(deployment: Deployment): string {
  const { orphans, moved, settledMs } = courseOf(deployment, 'replace', 1);
  const listed = billOf(deployment).partitionListBytes * (orphans.count + moved.count);
  return `${seconds(settledMs)}, ${bytes(listed)}`;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Two digits: no figure here is more exact. */
function rounded(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en');
}

function count(value: number): string {
  return value < 1000 && Number.isInteger(value) ? String(value) : rounded(value);
}

function cores(value: number): string {
  return value === 0 ? '–' : `${rounded(value)} cores`;
}

function seconds(valueMs: number): string {
  return valueMs >= 600_000 ? `${rounded(valueMs / 60_000)} min` : `${rounded(valueMs / 1000)} s`;
}

const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

function bytes(value: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  return `${rounded(value / 1000 ** power)} ${BYTE_UNITS[power]}`;
}

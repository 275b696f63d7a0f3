/** `kubeloom partitions`: the members of a group, and the owners of the partitions. */
import { resources } from '../../index.ts';
import { resourcePath } from '../../kube/resource.ts';
import { ApiClient } from '../../http/api-client.ts';
import { listPage } from '../loadtest/process/list-page.ts';
import { kubeConfigOf, namespaceOf } from './cluster.ts';
import type { PartitionsFlags } from './commands/partitions.ts';
import { reportOf } from './partitions-report.ts';
import type { MemberRow, PartitionRow } from './partitions-report.ts';
import { Table } from './terminal/table.ts';
import { printJson, printLine } from './terminal/output.ts';

/** Prints the report. @returns the exit code: 1 when a partition is not served, or when there are no partitions */
export async function partitions(
  group: string,
  flags: PartitionsFlags,
  signal: AbortSignal,
): Promise<number> {
  const kubeConfig = kubeConfigOf(flags);
  const namespace = namespaceOf(kubeConfig, flags);
  const labelSelector = `kubeloom.dev/partition-group=${group}`;
  const path = `${resourcePath(resources.coordination.v1.leases, namespace)}?${new URLSearchParams({ labelSelector }).toString()}`;
  const { items } = await listPage(new ApiClient(kubeConfig), path, signal);
  const report = reportOf(group, items, Date.now());
  if (flags.json === true) printJson(JSON.stringify(report));
  else printTables(report.partitions, report.members);
  const isServed = report.partitions.length > 0 && report.partitions.every(({ state }) => state === 'active');
  return isServed ? 0 : 1;
}

function printTables(rows: readonly PartitionRow[], members: readonly MemberRow[]): void {
  const owners = new Table(['PARTITION', 'OWNER', 'EPOCH', 'AGE', 'STATE']);
  const ownerRows = rows.map(({ partition, owner, epoch, ageSeconds, state }) => [
    String(partition),
    owner || '-',
    String(epoch),
    ageSeconds === undefined ? '-' : `${ageSeconds}s`,
    state,
  ]);
  for (const line of owners.lines(ownerRows)) printLine(line);
  printLine('');
  const table = new Table(['MEMBER', 'RENEWED', 'STATE', 'HOLDS', 'CANNOT TAKE']);
  const memberRows = members.map(({ member, renewedSecondsAgo, isAlive, isLeaving, holds, cannotTake }) => [
    member,
    `${renewedSecondsAgo}s ago`,
    isAlive ? (isLeaving ? 'leaving' : 'alive') : 'gone',
    String(holds),
    cannotTake.join(',') || '-',
  ]);
  for (const line of table.lines(memberRows)) printLine(line);
}

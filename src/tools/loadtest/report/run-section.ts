/** The end of a report: the server's counters, the facts of the run and the machines, and leftovers. */
import type { LoadTestResult, RunFacts, ServerMetric } from '../result.ts';
import { html, numberColumns, table, textColumns } from './html.ts';
import type { Html } from './html.ts';
import { indexesText } from './indexes-text.ts';
import { countText, valueText } from './value-text.ts';

export function serverTable({ serverMetrics, serverStages: { unread } }: LoadTestResult): Html {
  if (serverMetrics.length === 0)
    return html`<p class="note">
      The counters of the server could not be read: ${unread ?? 'it has none'}.
    </p>`;
  const columns = [...textColumns('Counter', 'Labels'), ...numberColumns('Before', 'After', 'Difference')];
  return table(columns, serverMetrics.map(metricRow));
}

function metricRow({ metric, labels, before, after }: ServerMetric): string[] {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const figure = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  return [metric, pairs.join(' '), figure(before), figure(after), figure(after - before)];
}

/** Returns name and value of each fact about the run and the machines. */
export function runFacts({
  workload,
  target,
  versions,
  machine,
  startedAt,
  durationMs,
  indexes,
}: RunFacts): [string, string][] {
  return [
    ['Started', `${startedAt.slice(0, 19).replace('T', ' ')} UTC`],
    ['Took', valueText(durationMs, 'ms')],
    ['Seed', String(workload.seed)],
    ['Context', target.context],
    ['Server', `${target.server}, ${versions.server}`],
    ['User', target.user],
    ['kubeloom', versions.kubeloom],
    ['Node.js', `${versions.node}, ${machine.platform} ${machine.architecture}`],
    ['Machine', `${machine.cpuModel}, ${machine.cpus} CPUs, ${valueText(machine.memoryBytes, 'bytes')}`],
    ...(indexes ? [['Indexes', indexesText(indexes)] as [string, string]] : []),
  ];
}

export function runSection({ run }: LoadTestResult): Html {
  const facts = runFacts(run).map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  );
  return html`<h2>What was run, and on what</h2>
    <div class="two">
      <div>
        <dl class="list">${facts}</dl>
        <details>
          <summary>${countText(run.namespaces.length)} namespaces</summary>
          <p class="note">${run.namespaces.join(' ')}</p>
        </details>
      </div>
      <div>
        <pre id="workload">${run.workloadYaml}</pre>
        <p class="note">This file repeats the run: save it, and give it to kubeloom loadtest.</p>
      </div>
    </div>`;
}

export function leftoverSection({ leftovers }: LoadTestResult): Html {
  if (leftovers.length === 0)
    return html`<h2>Leftovers</h2>
      <p class="note">Everything that the test created was removed.</p>`;
  const columns = textColumns('Left behind', 'Why', 'Command that removes it');
  const rows = leftovers.map(({ what, why, command }) => [what, why, html`<code>${command}</code>`]);
  return html`<h2>Leftovers</h2>
    ${table(columns, rows)}`;
}

/** First section of the dashboard: whether the caches can be relied on. */
import type { Section } from './panel.ts';
import { rate, series } from './queries.ts';

const HALF = 12;
const SIXTH = 4;

export const OVERVIEW: Section = {
  title: 'Overview',
  panels: [
    {
      kind: 'stat',
      title: 'Objects',
      description: 'Objects in all caches.',
      unit: 'short',
      width: SIXTH,
      queries: [{ expression: `sum(${series('kubeloom_informer_objects')})`, legend: 'objects' }],
    },
    {
      kind: 'stat',
      title: 'Changes per second',
      description: 'Records that were merged into the caches.',
      unit: 'short',
      width: SIXTH,
      queries: [{ expression: `sum(${rate('kubeloom_informer_records_total')})`, legend: 'changes' }],
    },
    {
      kind: 'stat',
      title: 'Largest lag',
      description:
        'Longest time since the last sign that a cache follows the server. Idle watches have a sign a minute.',
      unit: 's',
      width: SIXTH,
      alarmFrom: 120,
      queries: [{ expression: `max(${series('kubeloom_informer_lag_seconds')})`, legend: 'lag' }],
    },
    {
      kind: 'stat',
      title: 'Caches not synced',
      description: 'Informers whose first list is not in the cache yet.',
      unit: 'short',
      width: SIXTH,
      alarmFrom: 1,
      queries: [{ expression: `sum(1 - ${series('kubeloom_informer_synced')})`, legend: 'not synced' }],
    },
    {
      kind: 'stat',
      title: 'Stale caches',
      description: 'Informers that may be outdated for longer than staleAfterMs.',
      unit: 'short',
      width: SIXTH,
      alarmFrom: 1,
      queries: [{ expression: `sum(${series('kubeloom_informer_stale')})`, legend: 'stale' }],
    },
    {
      kind: 'stat',
      title: 'Errors since the start',
      description: 'Errors reported for the informers since the programs started.',
      unit: 'short',
      width: SIXTH,
      alarmFrom: 1,
      queries: [
        {
          expression: `sum(${series('kubeloom_errors_total')}) or vector(0)`,
          legend: 'errors',
        },
      ],
    },
    {
      kind: 'states',
      title: 'State of caches',
      description: 'The worst of all instances, for each informer.',
      width: HALF,
      states: [
        { text: 'follows the server', colour: 'green' },
        { text: 'not synced', colour: 'orange' },
        { text: 'stale', colour: 'red' },
        { text: 'stale, not synced', colour: 'red' },
      ],
      queries: [
        {
          expression: `max by (name) (2 * ${series('kubeloom_informer_stale')} - ${series('kubeloom_informer_synced')} + 1)`,
          legend: '{{name}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Lag',
      description: 'Time since the last sign that the cache follows the server.',
      unit: 's',
      width: HALF,
      queries: [
        { expression: `max by (name) (${series('kubeloom_informer_lag_seconds')})`, legend: '{{name}}' },
      ],
    },
  ],
};

/** The frame of a running load test: a pure function of the state and the size of the terminal. */
import { escapeControls } from '../../../base/printable.ts';
import type { LiveLatencies, LiveState } from '../../loadtest/live.ts';
import { countText, timeText, valueText } from '../../loadtest/report/value-text.ts';
import { cut, fitted } from '../terminal/cells.ts';
import { barLine } from '../terminal/progress.ts';

export interface FrameState {
  readonly title: string;
  /** The states of the last seconds, at least the present state, which comes last. */
  readonly states: readonly LiveState[];
}

/** Rates cover the last 5 s. */
export const STATES_KEPT = 6;
/** The share of the due writes that must be answered: below, the run will be INVALID. */
const RATE_SHARE_MIN = 0.95;
const LABEL_WIDTH = 12;
const HEADER_LINES = 2;

/** Returns at most `rows` lines of at most `columns` columns, the most important first. */
export function frame({ title, states }: FrameState, columns: number, rows: number): string[] {
  const now = states.at(-1);
  if (!now) return [];
  // Rates of different phases cannot be compared.
  const inPhase = states.filter(({ phase }) => phase.index === now.phase.index);
  const lines = [
    escapeControls(title),
    phaseLine(now),
    '',
    labelled('writes', writesText(inPhase, now)),
    ...latencyLines(now.latencies),
    labelled('watchers', watchersText(inPhase, now)),
    ...processLines(now, Math.max(0, rows - HEADER_LINES - 7)),
    labelled('so far', verdictText(inPhase, now)),
  ];
  return lines.slice(0, Math.max(1, rows)).map((line) => cut(line, columns));
}

function phaseLine({ atMs, phase, writes }: LiveState): string {
  const { name, index, count, startMs, durationMs } = phase;
  const tookMs = atMs - startMs;
  const where = `phase ${index + 1} of ${count}: ${escapeControls(name)}`;
  if (durationMs !== null) {
    const left = Math.max(0, durationMs - tookMs);
    return barLine(Math.min(1, tookMs / durationMs), `${where}, ${secondsText(left)} left`);
  }
  if (writes.total !== null && writes.total > 0)
    return barLine(Math.min(1, writes.answered / writes.total), `${where}, ${secondsText(tookMs)}`);
  return `${where}, ${secondsText(tookMs)}`;
}

function writesText(states: readonly LiveState[], now: LiveState): string {
  const { due, answered, failed } = now.writes;
  const isPaced = now.phase.durationMs !== null;
  const waiting = Math.max(0, due - answered - failed);
  const asked = valueText(
    rateOf(states, ({ writes }) => writes.due),
    'perSecond',
  );
  const achieved = valueText(
    rateOf(states, ({ writes }) => writes.answered),
    'perSecond',
  );
  const rate = isPaced ? `${achieved} of ${asked} asked` : achieved;
  return `${countText(answered)} confirmed   ${rate}   ${countText(waiting)} waiting   ${countText(failed)} failed`;
}

function latencyLines({ dueToSent, sentToAnswered }: LiveLatencies): string[] {
  const text = (latencies: LiveLatencies['dueToSent']): string =>
    latencies === null
      ? '–'
      : `p50 ${timeText(latencies.p50).padStart(8)}   p99 ${timeText(latencies.p99).padStart(8)}   max ${timeText(latencies.max).padStart(8)}`;
  return [labelled('due→sent', text(dueToSent)), labelled('→answered', text(sentToAnswered))];
}

function watchersText(states: readonly LiveState[], { watchers }: LiveState): string {
  const { count, synced, delivered, relists, cutWatches } = watchers;
  const rate = valueText(
    rateOf(states, (state) => state.watchers.delivered),
    'perSecond',
  );
  return [
    `${countText(synced)} of ${countText(count)} synced`,
    `${countText(delivered)} delivered, ${rate}`,
    `${countText(relists)} relists`,
    `${countText(cutWatches)} watches cut`,
  ].join('   ');
}

/** The processes with the most CPU, as many as fit. */
function processLines({ processes }: LiveState, room: number): string[] {
  const busiest = processes.toSorted((one, other) => other.cpu - one.cpu).slice(0, room);
  return busiest.map(({ name, cpu, rssBytes, loopDelayMs }) =>
    labelled(
      escapeControls(name),
      `${cpu.toFixed(2)} CPU   ${valueText(rssBytes, 'bytes').padStart(8)}   loop delayed by ${timeText(loopDelayMs)}`,
    ),
  );
}

/** Returns the reasons why the run can no longer be a PASS, or may not be. Loss is known only at the end. */
function verdictText(states: readonly LiveState[], { writes, phase }: LiveState): string {
  if (writes.failed > 0) return `INVALID: ${countText(writes.failed)} writes failed`;
  const due = rateOf(states, (state) => state.writes.due) ?? 0;
  const answered = rateOf(states, (state) => state.writes.answered) ?? 0;
  const isPaced = phase.durationMs !== null && due > 0;
  if (isPaced && answered < due * RATE_SHARE_MIN)
    return 'the rate of the last 5 s is below 95 % of the one asked for';
  return 'no write failed; delivery is judged at the end';
}

/** Returns the growth of a sum in a second; null at the beginning. */
function rateOf(states: readonly LiveState[], of: (state: LiveState) => number): number | null {
  const [first] = states;
  const last = states.at(-1);
  if (!first || !last || last.atMs <= first.atMs) return null;
  return ((of(last) - of(first)) * 1000) / (last.atMs - first.atMs);
}

function secondsText(ms: number): string {
  return timeText(Math.round(ms / 1000) * 1000);
}

function labelled(label: string, text: string): string {
  return `${fitted(label, LABEL_WIDTH - 1, 'left')} ${text}`;
}

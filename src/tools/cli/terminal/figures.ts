/** Figures as text, short enough for a column of a narrow terminal. */

/** Text for a missing figure. */
const DASH = '–';
const THOUSAND = 1000;
const LARGE_UNITS = ['M', 'G', 'T', 'P'] as const;

/** Returns at most seven characters: `999,999`, `1.23M`. */
export function countText(value: number | undefined): string {
  if (value === undefined) return DASH;
  const rounded = Math.round(value);
  if (rounded < THOUSAND ** 2) return rounded.toLocaleString('en-US');
  let scaled = rounded / THOUSAND ** 2;
  let unit = 0;
  for (; scaled >= THOUSAND - 0.5 && unit < LARGE_UNITS.length - 1; unit++) scaled /= THOUSAND;
  return `${threeDigits(scaled)}${LARGE_UNITS[unit]}`;
}

/** Returns events in a second: as a count, below ten with a decimal. */
export function rateText(value: number | undefined): string {
  return value !== undefined && value > 0 && value < 9.95 ? value.toFixed(1) : countText(value);
}

/** Returns a share in percent: `25%`. */
export function percentText(fraction: number | undefined): string {
  return fraction === undefined ? DASH : `${Math.round(fraction * 100)}%`;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns at most five characters: `850µs`, `3.2ms`, `200ms`, `12s`, `130s`, `17m`, `5h`, `3d`. */
export function durationText(seconds: number | undefined): string {
  if (seconds === undefined) return DASH;
  if (seconds < 0.0009995) return `${Math.round(seconds * 1e6)}µs`;
  if (seconds < 0.9995)
    return `${seconds < 0.00995 ? (seconds * 1000).toFixed(1) : Math.round(seconds * 1000)}ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  if (seconds < THOUSAND) return `${Math.round(seconds)}s`;
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)}m`;
  return seconds < 2 * DAY ? `${Math.round(seconds / HOUR)}h` : `${Math.round(seconds / DAY)}d`;
}

const BLOCKS = '▁▂▃▄▅▆▇█';

/** Returns a character for each value, with a full block for the highest. */
export function sparkline(values: readonly number[]): string {
  const highest = Math.max(...values, Number.MIN_VALUE);
  return values.map((value) => BLOCKS[Math.round((value / highest) * (BLOCKS.length - 1))]).join('');
}

function threeDigits(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

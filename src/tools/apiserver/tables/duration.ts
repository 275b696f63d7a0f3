/** Durations for people, as kubectl prints them: two or three significant figures. */

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** From this many seconds on, the units that are printed; the smaller unit is left out when it is zero. */
const STEPS: readonly (readonly [from: number, unit: string, seconds: number, smaller?: [string, number]])[] =
  [
    [8 * YEAR, 'y', YEAR],
    [2 * YEAR, 'y', YEAR, ['d', DAY]],
    [8 * DAY, 'd', DAY],
    [2 * DAY, 'd', DAY, ['h', HOUR]],
    [8 * HOUR, 'h', HOUR],
    [3 * HOUR, 'h', HOUR, ['m', MINUTE]],
    [10 * MINUTE, 'm', MINUTE],
    [2 * MINUTE, 'm', MINUTE, ['s', 1]],
  ];

/** Returns `3d4h` for milliseconds. A time up to two seconds in the future is now, because clocks differ. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND);
  if (seconds < -1) return '<invalid>';
  const step = STEPS.find(([from]) => seconds >= from);
  if (step === undefined) return `${Math.max(seconds, 0)}s`;
  const [, unit, size, smaller] = step;
  const rest = smaller === undefined ? 0 : Math.floor((seconds % size) / smaller[1]);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 ? '' : `${rest}${smaller?.[0]}`}`;
}

/** Returns the time since a timestamp. */
export function since(timestamp: string, now: number): string {
  if (timestamp === '') return '<unknown>';
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? '<invalid>' : humanDuration(now - time);
}

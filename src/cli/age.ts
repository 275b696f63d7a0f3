/** Ages in kubectl's format: at most two units, the second only where it matters. */

const SECOND_MS = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** apimachinery's HumanDuration. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / SECOND_MS);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return two(seconds, YEAR, 'y', DAY, 'd');
  return `${Math.floor(seconds / YEAR)}y`;
}

/** The age of a timestamp as Kubernetes writes it. */
export function ageOf(timestamp: unknown, now: number): string {
  const since = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(since) ? '<unknown>' : humanDuration(now - since);
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)}${largeName}`;
  return rest === 0 ? first : `${first}${rest}${smallName}`;
}

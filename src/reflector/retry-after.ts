/**
 * The Retry-After header, in both of its forms. A date is compared with the Date header of the same answer,
 * so that neither our clock nor its difference from the server's plays a role.
 */

/** @returns seconds, or undefined when the header is missing or makes no sense */
export function retryAfterSeconds(headers: Readonly<Record<string, string>>): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const until = httpDate(value);
  const from = httpDate(headers['date'] ?? '');
  if (until === undefined || from === undefined) return undefined;
  return Math.max(0, (until - from) / 1000);
}

/** Only what looks like one: Date.parse takes almost anything for a date. */
function httpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** True for an instant of a calendar, `2024-02-29T12:00:00`: JavaScript counts 31 April as 1 May. */
export function isInstant(seconds: string): boolean {
  return new Date(`${seconds}Z`).toJSON()?.startsWith(seconds) === true;
}

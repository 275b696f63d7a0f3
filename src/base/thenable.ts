/**
 * Takes the rejection of a promise that a function returned which must return a value: its caller reports the promise, and a
 * rejection without a handler would end the process.
 */
export function disown(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).catch(() => {});
}

/** Returns whether the value is a promise of any library. A member `then` that is no function is data. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function';
}

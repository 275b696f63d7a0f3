/** What is not in the cache because nobody follows it: not the same as an object that does not exist. */
import { KubeloomError } from '../errors.ts';

export class NotCachedError extends KubeloomError {
  /** `deployments.apps`, or what was asked for where nobody knows what that is. */
  readonly kind: string;

  /** @param why nobody follows it */
  constructor(kind: string, why: string) {
    super('ERR_KUBELOOM_NOT_CACHED', `${kind} cannot be read from the cache: ${why}`);
    this.kind = kind;
  }
}

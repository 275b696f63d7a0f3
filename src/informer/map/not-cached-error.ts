/** Error of a read for which no informer runs or has synced; an object that does not exist is `undefined` instead. */
import { KubeloomError } from '../../base/errors.ts';

export class NotCachedError extends KubeloomError {
  /** Resource such as `deployments.apps`, or the caller's text when it is unknown. */
  readonly kind: string;

  /** @param why reason in the message */
  constructor(kind: string, why: string) {
    super('ERR_KUBELOOM_NOT_CACHED', `${kind} cannot be read from the cache: ${why}`);
    this.kind = kind;
  }
}

/** client-go's ErrRequeue, as it was until v0.25: thrown by a process callback to get the item again. */
import { KubeloomError } from '../errors.ts';

export class ErrRequeue extends KubeloomError {
  override readonly name: string = 'ErrRequeue';

  /** `cause` is what `pop` throws; without one `pop` succeeds. FIFO and DeltaFIFO only. */
  constructor(cause?: unknown) {
    const message =
      cause instanceof Error
        ? cause.message
        : 'the popped item should be requeued without returning an error';
    super('ERR_KUBELOOM_REQUEUE', message, { cause });
  }
}

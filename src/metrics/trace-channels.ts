/**
 * Channels of node:diagnostics_channel for traces: calls of handlers, work queues, reconciliations. A message is made only
 * when a subscriber listens to the channel.
 *
 * The message of a call contains `run`, and a subscriber may replace it by a function around it. This is how a subscriber
 * makes a span active inside the call: a TracingChannel cannot, because it must be given the AsyncLocalStorage, and that
 * of OpenTelemetry is private (open-telemetry/opentelemetry-js#6088).
 */
import { channel } from 'node:diagnostics_channel';
import type { InformerLabels, ListMessage } from './channels.ts';

/** A channel of node:diagnostics_channel with the message. */
export interface TypedChannel<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
  subscribe(subscriber: (message: Message) => void): void;
  unsubscribe(subscriber: (message: Message) => void): void;
}

function typed<Message>(name: string): TypedChannel<Message> {
  return channel(name) as TypedChannel<Message>;
}

/** An informer and a handler of it. */
export interface HandlerOrigin extends InformerLabels {
  readonly handler: string;
}

/** A call of a handler, before it is made. */
export interface NotificationMessage extends HandlerOrigin {
  readonly type: 'added' | 'modified' | 'deleted';
  readonly namespace: string;
  readonly objectName: string;
  readonly resourceVersion: string;
  /** Calls the handler, and returns what it returns. */
  run: () => unknown;
}

/** An item of a work queue. The queue object is the identity: queues may share a name, or have none. */
export interface QueueMessage {
  readonly queue: { readonly name: string };
  readonly key: unknown;
}

/** Result of a reconciliation, as the label `result` of metrics. */
export type Outcome = 'success' | 'requeue_after' | 'error';

export interface Reconciled {
  readonly outcome: Outcome;
  /** Value that the reconcile function threw. */
  readonly error?: unknown;
}

/** A reconciliation, before it begins. */
export interface ReconcileMessage extends QueueMessage {
  /** Failures of the item since the last success. */
  readonly retries: number;
  /** Reconciles the item and, when that failed or asks for it, adds it again. */
  run: () => Promise<Reconciled>;
}

export const notificationChannel: TypedChannel<NotificationMessage> = typed('kubeloom:notification');
/** An item is added, now or after a delay. */
export const queueAddChannel: TypedChannel<QueueMessage> = typed('kubeloom:queue-add');
/** An item is taken to be worked on. */
export const queueGetChannel: TypedChannel<QueueMessage> = typed('kubeloom:queue-get');
/** The work on an item ended. */
export const queueDoneChannel: TypedChannel<QueueMessage> = typed('kubeloom:queue-done');
export const reconcileChannel: TypedChannel<ReconcileMessage> = typed('kubeloom:reconcile');
export const listChannel: TypedChannel<ListMessage> = typed('kubeloom:list');

/**
 * Spans of lists, notifications and reconciliations through @opentelemetry/api. A notification gets a span only when the
 * handler adds a key to a work queue: the reconciliation of the key links to it. Each span is the root of a trace,
 * because whatever span is active when a thread's message or a worker's turn arrives is unrelated to it.
 */
import { messageOf } from '../base/errors.ts';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Exception, HrTime, Span, Tracer } from '@opentelemetry/api';
import { realClock } from '../base/clock.ts';
import type { InformerLabels, ListMessage } from './channels.ts';
import { KeyLinks } from './key-links.ts';
import {
  listChannel,
  notificationChannel,
  queueAddChannel,
  queueDoneChannel,
  queueGetChannel,
  reconcileChannel,
} from './trace-channels.ts';
import type { NotificationMessage, QueueMessage, ReconcileMessage, TypedChannel } from './trace-channels.ts';

/** A call of a handler while the handler is on the stack. */
interface NotificationCall {
  readonly message: NotificationMessage;
  /** Time of `performance.now()`, which OpenTelemetry accepts. */
  readonly startMs: number;
  /** The span that was active before the call: it is unrelated to the keys that the handler adds. */
  readonly activeBefore: Span | undefined;
  /** Made by the first add. */
  span: Span | undefined;
}

/**
 * Makes spans of lists and reconciliations with the tracer. The span of a reconciliation is active while the reconcile
 * function runs. Returns a function that ends it: spans in progress are finished, links are forgotten.
 */
export function startTracing(tracer: Tracer): () => void {
  const tracing = new Tracing(tracer);
  const subscriptions = [
    subscribed(listChannel, (message) => tracing.list(message)),
    subscribed(notificationChannel, (message) => tracing.notification(message)),
    subscribed(queueAddChannel, (message) => tracing.added(message)),
    subscribed(queueGetChannel, ({ queue, key }) => tracing.links.take(queue, key)),
    subscribed(queueDoneChannel, ({ queue, key }) => tracing.links.done(queue, key)),
    subscribed(reconcileChannel, (message) => tracing.reconcile(message)),
  ];
  return () => {
    for (const end of subscriptions) end();
  };
}

function subscribed<Message>(
  channel: TypedChannel<Message>,
  subscriber: (message: Message) => void,
): () => void {
  channel.subscribe(subscriber);
  return () => channel.unsubscribe(subscriber);
}

class Tracing {
  readonly links: KeyLinks = new KeyLinks();
  readonly #tracer: Tracer;
  #call: NotificationCall | undefined;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  list(message: ListMessage): void {
    const { resource, mode, cause, result, items, bytes, startedAtMs, durationMs } = message;
    const span = this.#tracer.startSpan(`${cause === 'initial' ? 'list' : 'relist'} ${resource}`, {
      root: true,
      kind: SpanKind.CLIENT,
      startTime: hrTime(startedAtMs),
      attributes: {
        ...informerAttributes(message),
        'kubeloom.list.mode': mode,
        'kubeloom.list.cause': cause,
        'kubeloom.list.result': result,
        'kubeloom.list.items': items,
        'kubeloom.list.bytes': bytes,
      },
    });
    if (result !== 'ok' && result !== 'stopped') {
      span.setAttribute('error.type', result);
      span.setStatus({ code: SpanStatusCode.ERROR, message: result });
    }
    span.end(hrTime(startedAtMs + durationMs));
  }

  notification(message: NotificationMessage): void {
    const { run } = message;
    message.run = () => {
      const outer = this.#call;
      const call = {
        message,
        startMs: realClock.now(),
        activeBefore: trace.getActiveSpan(),
        span: undefined,
      };
      this.#call = call;
      try {
        return run();
      } finally {
        this.#call = outer;
        endNotification(call);
      }
    };
  }

  added({ queue, key }: QueueMessage): void {
    if (!this.links.hasRoom(queue, key)) return;
    const call = this.#call;
    if (call) this.#link(queue, key, (call.span ??= this.#notificationSpan(call)));
    const active = trace.getActiveSpan();
    if (active !== call?.activeBefore) this.#link(queue, key, active);
  }

  reconcile(message: ReconcileMessage): void {
    const { queue, key, retries, run } = message;
    const attributes: Attributes = { 'kubeloom.reconcile.retries': retries };
    if (queue.name !== '') attributes['kubeloom.controller'] = queue.name;
    const text = keyText(key);
    if (text !== undefined) attributes['kubeloom.key'] = text;
    const options = {
      root: true,
      kind: SpanKind.CONSUMER,
      links: [...this.links.inWork(queue, key)],
      attributes,
    };
    message.run = () =>
      this.#tracer.startActiveSpan(`reconcile ${queue.name}`.trimEnd(), options, async (span) => {
        try {
          const reconciled = await run();
          span.setAttribute('kubeloom.reconcile.result', reconciled.outcome);
          if (reconciled.outcome === 'error') fail(span, reconciled.error);
          return reconciled;
        } catch (error) {
          span.setAttribute('kubeloom.reconcile.result', 'error');
          fail(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
  }

  #notificationSpan({ message, startMs }: NotificationCall): Span {
    const { type, handler, namespace, objectName, resourceVersion, resource } = message;
    const attributes: Attributes = {
      ...informerAttributes(message),
      'kubeloom.handler': handler,
      'kubeloom.notification.type': type,
      'k8s.object.name': objectName,
      'k8s.object.resource_version': resourceVersion,
    };
    if (namespace !== '') attributes['k8s.namespace.name'] = namespace;
    return this.#tracer.startSpan(`notification ${resource}`, {
      root: true,
      kind: SpanKind.CONSUMER,
      startTime: startMs,
      attributes,
    });
  }

  /** Links the key to a recorded span; spans of other processes are recorded by their processes. */
  #link(queue: object, key: unknown, span: Span | undefined): void {
    const spanContext = span?.spanContext();
    if (spanContext && (span?.isRecording() || spanContext.isRemote)) this.links.add(queue, key, spanContext);
  }
}

/** Ends the span of the call, if an add made a span. */
function endNotification({ span }: NotificationCall): void {
  span?.end(realClock.now());
}

function informerAttributes({ name, group, version, resource }: InformerLabels): Attributes {
  return {
    'kubeloom.informer': name,
    'kubeloom.group': group,
    'kubeloom.version': version,
    'kubeloom.resource': resource,
  };
}

/** Returns the text of a key; undefined for an object, whose text carries no information. */
function keyText(key: unknown): string | undefined {
  return typeof key === 'string' || typeof key === 'number' ? String(key) : undefined;
}

function fail(span: Span, error: unknown): void {
  const exception: Exception = error instanceof Error ? error : messageOf(error);
  span.recordException(exception);
  span.setAttribute('error.type', errorType(error));
  span.setStatus({
    code: SpanStatusCode.ERROR,
    message: messageOf(error),
  });
}

/** Returns the code of an error, which is an HTTP status for those of client-node, or its name. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name;
}

/** Returns the time of OpenTelemetry for milliseconds since 1970: seconds and nanoseconds. */
function hrTime(unixMs: number): HrTime {
  const seconds = Math.floor(unixMs / 1000);
  return [seconds, Math.floor((unixMs - seconds * 1000) * 1e6)];
}

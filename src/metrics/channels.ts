/**
 * Channels of node:diagnostics_channel on which informers publish what is rare: the end of a list or watch, a request, a
 * thread that was replaced, a handler that is too slow. A message is made only for a channel with a subscriber.
 */
import { channel } from 'node:diagnostics_channel';
import type { Channel } from 'node:diagnostics_channel';

import type { ErrorCode } from '../base/error-codes/error-table.ts';

/** The informer of a message, with the labels of the informer's metrics. */
export interface InformerLabels {
  /** Name of the informer in metrics: `pods (all namespaces)`. A second running informer of that name ends in ` #2`. */
  readonly name: string;
  /** API group; '' for the core group. */
  readonly group: string;
  /** Version of the group: `v1`. */
  readonly version: string;
  /** Plural, lower case: `pods`. */
  readonly resource: string;
}

/** Time of an ended list or watch. */
export interface TimedMessage {
  /** Time of `Date.now()`. */
  readonly startedAtMs: number;
  /** Time from the first request of the list, or from the opening of the watch, to the end. */
  readonly durationMs: number;
}

/** Message of `kubeloom:list`: a list ended. */
export interface ListMessage extends InformerLabels, TimedMessage {
  /** `stream`: a watch that begins with every object; `pages`. */
  readonly mode: string;
  /** Reason for the list, as in `kubeloom_lists_total`. */
  readonly cause: string;
  /** `ok`, `cut_off`, `stopped`, or the code of the error. */
  readonly result: string;
  /** Items that were read, also of a list that failed. */
  readonly items: number;
  /** Bytes of the response. */
  readonly bytes: number;
}

/** Message of `kubeloom:watch`: a watch ended. */
export interface WatchMessage extends InformerLabels, TimedMessage {
  /** Reason for the end, as in `kubeloom_watches_ended_total`. */
  readonly reason: string;
  /** Events of the watch, bookmarks included. */
  readonly events: number;
}

/** Message of `kubeloom:request`: the server answered a request, or it failed without an answer. */
export interface RequestMessage extends InformerLabels {
  /** `LIST` or `WATCH`. */
  readonly verb: string;
  /** Host and port of the server. */
  readonly host: string;
  /** Status of the response; `<error>` without a response. */
  readonly code: string;
  /** Time until the head of the response. */
  readonly durationMs: number;
}

/** Message of `kubeloom:thread`: a thread ended and was replaced. */
export interface ThreadMessage {
  /** Name of the threads in metrics. */
  readonly threads: string;
  /** `reflector`, `shard 0` … */
  readonly role: string;
  /** Always ERR_KUBELOOM_THREAD_RESTARTED. */
  readonly code: ErrorCode;
}

/** Message of `kubeloom:backlog`: changes of a handler's backlog are coalesced. */
export interface BacklogMessage extends InformerLabels {
  /** Name of the handler. */
  readonly handler: string;
  /** Code of the error that reports it. */
  readonly code: ErrorCode;
  /** Notifications that wait for the handler. */
  readonly notifications: number;
  /** Bytes of their objects. */
  readonly bytes: number;
  /** Age of the oldest notification. */
  readonly ageMs: number;
}

/** Message of `kubeloom:slow-handler`: a call took long, or notifications wait for long. */
export interface SlowHandlerMessage extends BacklogMessage {
  /** Duration of the long call; undefined when notifications wait for long. */
  readonly callMs: number | undefined;
}

/** Messages by channel. */
export interface ChannelMessages {
  /** A list ended, successful or not. */
  readonly 'kubeloom:list': ListMessage;
  /** A watch ended. */
  readonly 'kubeloom:watch': WatchMessage;
  /** The head of a response arrived, or the request failed. */
  readonly 'kubeloom:request': RequestMessage;
  /** A thread was replaced. */
  readonly 'kubeloom:thread': ThreadMessage;
  /** ERR_KUBELOOM_SLOW_HANDLER was reported. */
  readonly 'kubeloom:slow-handler': SlowHandlerMessage;
  /** ERR_KUBELOOM_BACKLOG_COALESCED was reported. */
  readonly 'kubeloom:backlog': BacklogMessage;
}
/** Name of a diagnostics channel. */
export type ChannelName = keyof ChannelMessages;

/** Publishes a message if a subscriber listens to the channel. @param message returns the message */
export function publish<Name extends ChannelName>(name: Name, message: () => ChannelMessages[Name]): void {
  const named: Channel = channel(name);
  if (named.hasSubscribers) named.publish(message());
}

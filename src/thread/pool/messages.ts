/**
 * Messages between a pool of reconcilers and the pool's threads. Errors cross with message, stack, code and other
 * scalar members, whatever package they come from.
 */
import type { MessagePort } from 'node:worker_threads';
import { KubeloomError, inspectable, messageOf } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/error-codes/error-table.ts';
import { TerminalError, isTerminal } from '../../workqueue/terminal-error.ts';
import type { CachePort } from '../main/shared-cache.ts';

export type PoolTask =
  /** The first task of a thread. */
  | {
      readonly type: 'open';
      /** URL of the module that reconciles. */
      readonly module: string;
      readonly cache: CachePort;
      /** Receives the number of each key whose signal was aborted. */
      readonly aborts: MessagePort;
    }
  | {
      readonly type: 'reconcile';
      readonly number: number;
      readonly key: string;
      readonly reconcileID: string;
      /** Memory of the fence that ends the signal: the thread compares it with the thread's own clock. */
      readonly fence: SharedArrayBuffer | undefined;
      /** Versions of the caches on the main thread, in the order of the port. */
      readonly resourceVersions: readonly string[];
    };

export type ReconcileTask = Extract<PoolTask, { type: 'reconcile' }>;

export type Answer =
  /** The function returned, or the thread is open. */
  | { readonly outcome: 'done'; readonly requeueAfterMs: number | undefined }
  /** The function ended with the reason of the signal. */
  | { readonly outcome: 'aborted' }
  | { readonly outcome: 'failed'; readonly failure: Failure }
  /** The thread cannot reconcile any key: the module exports no function, or the caches have ended. */
  | { readonly outcome: 'unusable'; readonly failure: Failure };

/** An error, or another value that a function threw, as data. */
export interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  /** Own members that are scalars: `code`, `httpStatus`, `retryAfterMs`. */
  readonly details: Readonly<Record<string, Scalar>>;
}

type Scalar = string | number | boolean;

/** Returns data for any value and never throws: no later code of the thread could report an error. */
export function failureOf(thrown: unknown): Failure {
  const error = inspectable(thrown);
  const details: Record<string, Scalar> = {};
  for (const [name, value] of error instanceof Error ? Object.entries(error as object) : [])
    if (isScalar(value)) Object.defineProperty(details, name, { value, enumerable: true, writable: true });
  if (isTerminal(error)) details['code'] = 'ERR_KUBELOOM_TERMINAL';
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  return { message: messageOf(error), stack: typeof stack === 'string' ? stack : undefined, details };
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Returns the error again: a `TerminalError`, an error of kubeloom, or an `Error`. */
export function errorOf({ message, stack, details }: Failure): Error {
  const { code = '' } = details;
  const error =
    code === 'ERR_KUBELOOM_TERMINAL'
      ? new TerminalError(message)
      : String(code).startsWith('ERR_KUBELOOM_')
        ? new KubeloomError(code as ErrorCode, message)
        : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, details);
}

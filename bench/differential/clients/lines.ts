/**
 * The protocol of the client programs of the differential table. A client program is started with the path of
 * a kubeconfig and runs an informer on pods. It prints one line of JSON for each event, until its standard
 * input ends or SIGTERM arrives. A line `state` on its standard input requests the content of its store.
 */
import { createInterface } from 'node:readline';

/** `t`: milliseconds since the epoch. */
export type Line = { readonly t: number } & Output;

/** An object and its version. */
export interface Identity {
  readonly key: string;
  readonly rv: string;
  readonly uid: string;
}

export type Output =
  | { readonly kind: 'client'; readonly client: string; readonly version: string }
  | (Identity & {
      readonly kind: 'add' | 'update' | 'delete';
      /** The client did not see the deletion: the object was missing in a list. */
      readonly unknown?: boolean;
    })
  | { readonly kind: 'synced' }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'stopped' }
  /** Keys and versions. */
  | { readonly kind: 'state'; readonly objects?: Readonly<Record<string, string>> };

export function say(output: Output): void {
  const t = performance.timeOrigin + performance.now();
  process.stdout.write(`${JSON.stringify({ t, ...output })}\n`);
}

/** Answers requests until standard input closes, then ends the process. */
export function answerRequests(list: () => readonly Identity[]): void {
  const sayState = (): void =>
    say({ kind: 'state', objects: Object.fromEntries(list().map(({ key, rv }) => [key, rv])) });
  const end = (): void => {
    sayState();
    say({ kind: 'stopped' });
    process.exit(0);
  };
  const requests = createInterface({ input: process.stdin });
  requests.on('line', (line) => {
    if (line === 'state') sayState();
  });
  requests.on('close', end);
  process.on('SIGTERM', end);
}

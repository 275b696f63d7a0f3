/**
 * What the client programs of the differential table print, a line of JSON each, and how they are asked. A client
 * program is started with the path of a kubeconfig, informs itself about pods, and lives until its standard input
 * ends or SIGTERM comes. A line `state` on its standard input asks for the content of its store.
 */
import { createInterface } from 'node:readline';

/** `t`: milliseconds since the epoch. */
export type Line = { readonly t: number } & Told;

export type Told =
  | { readonly kind: 'client'; readonly client: string; readonly version: string }
  | {
      readonly kind: 'add' | 'update' | 'delete';
      readonly key: string;
      readonly rv: string;
      readonly uid: string;
      /** The deletion was not seen: the object was missing in a list. */
      readonly unknown?: boolean;
    }
  | { readonly kind: 'synced' }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'stopped' }
  /** Keys and versions. */
  | { readonly kind: 'state'; readonly objects?: Readonly<Record<string, string>> };

export function say(told: Told): void {
  const t = performance.timeOrigin + performance.now();
  process.stdout.write(`${JSON.stringify({ t, ...told })}\n`);
}

/** Answers until nobody can ask any more, then ends the process. */
export function answerRequests(state: () => Record<string, string>): void {
  const end = (): void => {
    say({ kind: 'state', objects: state() });
    say({ kind: 'stopped' });
    process.exit(0);
  };
  const requests = createInterface({ input: process.stdin });
  requests.on('line', (line) => {
    if (line === 'state') say({ kind: 'state', objects: state() });
  });
  requests.on('close', end);
  process.on('SIGTERM', end);
}

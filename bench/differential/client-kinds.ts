/** The clients of the differential table: programs whose last argument is the path of a kubeconfig. */
import { fileURLToPath } from 'node:url';
import { clientGo } from '../toolchains.ts';
import type { Made } from '../toolchains.ts';

export interface ClientKind {
  readonly name: string;
  /** Builds or finds the program. */
  readonly prepare: () => Made | Promise<Made>;
  readonly args?: readonly string[];
}

/** A client whose program can run. */
export interface ReadyClient {
  readonly name: string;
  readonly command: readonly string[];
}

const script = (name: string): Made => ({
  made: fileURLToPath(new URL(`./clients/${name}.js`, import.meta.url)),
});

export const CLIENT_KINDS: readonly ClientKind[] = [
  { name: 'kubeloom', prepare: () => script('kubeloom') },
  { name: 'client-go', prepare: () => clientGo('differential/clients/client-go') },
  { name: 'client-node', prepare: () => script('client-node') },
  { name: 'client-node, restarted', prepare: () => script('client-node'), args: ['--restart'] },
];

/** Returns the client, or why its program cannot run. */
export async function readyClient({ name, prepare, args = [] }: ClientKind): Promise<ReadyClient | string> {
  const program = await prepare();
  if ('reason' in program) return program.reason;
  const runtime = program.made.endsWith('.js') ? [process.execPath] : [];
  return { name, command: [...runtime, program.made, ...args] };
}

/** Ends an example with SIGTERM at several moments: it has to end with code 0 and without a warning or an error on stderr. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { failRequests } from '../unit/tools/apiserver/fail-requests.ts';
import type { Outcome, Program } from './program.ts';
import { expectedOutput, startProgram, startServer } from './repository.ts';

/** Starts the example and stops it at a moment. @param yaml a kubeconfig of the kind that it needs */
type Moment = (name: string, folder: string, yaml: string) => Promise<Outcome>;

const MOMENTS: Readonly<Record<string, Moment>> = {
  'while it connects': async (name, folder, kubeConfigYaml) => {
    await using silent = createServer((socket) => void socket.on('error', () => {}).resume()).listen(
      0,
      '127.0.0.1',
    );
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const connected = once(silent, 'connection');
    const yaml = kubeConfigYaml.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`);
    return await stopped(name, folder, yaml, () => connected);
  },
  'before its first answer': async (name, folder) => {
    await using server = await startServer();
    await failRequests(server, 'hang', 'always');
    return await stopped(name, folder, server.kubeConfigYaml, () => requested(server));
  },
  'before it has listed': async (name, folder) => {
    await using server = await startServer();
    await failRequests(server, 'hang', 'always', { method: 'GET' });
    return await stopped(name, folder, server.kubeConfigYaml, () => requested(server, 'GET'));
  },
  'after its first line': async (name, folder) => {
    await using server = await startServer();
    const [line = ''] = (await expectedOutput(name)).split('\n', 1);
    return await stopped(name, folder, server.kubeConfigYaml, (program) => program.printed(line));
  },
};

/**
 * Returns a line for each moment with a failure; undefined when the example always ended well.
 *
 * @param yaml a kubeconfig; its server is not used
 */
export async function stoppingComplaint(
  name: string,
  folder: string,
  yaml: string,
): Promise<string | undefined> {
  const complaints: string[] = [];
  for (const [moment, stop] of Object.entries(MOMENTS)) {
    const { end, stderr } = await stop(name, folder, yaml);
    if (end !== '0' || /warning|error/i.test(stderr))
      complaints.push(`SIGTERM ${moment}: it ended with ${end}\n${stderr}`);
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

async function stopped(
  name: string,
  folder: string,
  yaml: string,
  moment: (program: Program) => Promise<unknown>,
): Promise<Outcome> {
  await using program = await startProgram(name, folder, yaml);
  await Promise.race([moment(program), program.outcome]);
  program.stop('SIGTERM');
  return await program.outcome;
}

async function requested(server: EmbeddedApiServer, method?: string): Promise<void> {
  const isWanted = (request: { method: string }): boolean =>
    method === undefined || request.method === method;
  while (!(await server.requests()).some(isWanted)) await new Promise(setImmediate);
}

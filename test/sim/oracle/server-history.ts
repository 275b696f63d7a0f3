/** H1 and H2 of the embedded apiserver, from its own records. */
import type { EmbeddedApiServer, RequestRecord } from '../../../src/tools/apiserver/testing/index.ts';
import type { Commit, Histories, WireRecord } from './histories.ts';

/** Adds all events of a resource so far. Call it once, at the end of a run. */
export async function recordServer(
  histories: Histories,
  server: EmbeddedApiServer,
  resource: string,
): Promise<void> {
  const path = resource.split('.')[0];
  // One by one: 120,000 are too many arguments.
  for (const commit of commitsOf(await server.log(resource))) histories.commits.push(commit);
  const requests = (await server.requests()).filter((request) => request.path.endsWith(`/${path}`));
  histories.wire.push(...requests.flatMap(wireOf));
}

export function commitsOf(log: Iterable<readonly [number, Commit['type'], string]>): Commit[] {
  return Array.from(log, ([revision, type, key]) => ({ revision, type, key }));
}

/** The server's record of a request: its query, and the state from which it was answered. */
export function wireOf(request: RequestRecord, connection: number): WireRecord[] {
  const { method, watch: isWatch, query, listedRevision } = request;
  const asked = { what: 'request', connection, method, isWatch, query } as const;
  if (listedRevision === undefined) return [asked];
  return [asked, { what: 'listed', connection, revision: listedRevision }];
}

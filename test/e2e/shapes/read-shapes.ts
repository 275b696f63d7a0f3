/** The documents of a control plane from which the table of shapes is made. */
import type { ControlPlane } from '../control-plane.ts';
import { getText } from '../get-text.ts';
import { sourceOf } from '../go-program.ts';
import { Client } from '../../semantics/client.ts';
import { withColumns } from './columns.ts';
import { structsOfApi } from './go-structs.ts';
import { withRules } from './interview.ts';
import { shapeTable, textOfTable } from './shape-table.ts';
import type { DiscoveryDocument, OpenApiDocument } from './shape-table.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function clientOf({ server, token, caData }: ControlPlane): Client {
  return new Client({ url: server, token, ca: Buffer.from(caData, 'base64').toString('utf8') });
}

/** Returns the text of the table for the version that the control plane runs. */
export async function readShapes(controlPlane: ControlPlane): Promise<string> {
  const get = async <T>(path: string, accept?: string): Promise<T> =>
    JSON.parse(await getText(controlPlane, path, accept)) as T;
  const { gitVersion } = await get<{ readonly gitVersion: string }>('/version');
  const { paths } = await get<{
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  }>('/openapi/v3');
  const documents: OpenApiDocument[] = [];
  for (const { serverRelativeURL } of Object.values(paths)) documents.push(await get(serverRelativeURL));
  const discovery = [
    await get<DiscoveryDocument>('/api', AGGREGATED),
    await get<DiscoveryDocument>('/apis', AGGREGATED),
  ];
  const table = shapeTable(gitVersion, documents, discovery, structsOfApi(sourceOf('control-plane')));
  const client = clientOf(controlPlane);
  return textOfTable(await withRules(client, await withColumns(client, table, documents)));
}

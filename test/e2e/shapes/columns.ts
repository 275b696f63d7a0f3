/** The columns that a real server prints of each kind, and its descriptions of the fields that every object has. */
import type { DiscoveredResource, Descriptions } from '../../../src/tools/apiserver/shapes/shapes.ts';
import type { Column } from '../../../src/tools/apiserver/store/column.ts';
import type { Client } from '../../semantics/client.ts';
import type { OpenApiDocument, ShapeTable } from './shape-table.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

function pathOf({ group, version, resource }: DiscoveredResource): string {
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`;
}

async function columnsOf(client: Client, resource: DiscoveredResource): Promise<Column[]> {
  const { text } = await client.get(`${pathOf(resource)}?limit=1`, { accept: TABLE });
  const { columnDefinitions } = JSON.parse(text) as { readonly columnDefinitions: readonly Column[] };
  return [...columnDefinitions];
}

interface Described {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

function descriptionsOf(documents: readonly OpenApiDocument[]): Descriptions {
  const schemas = Object.assign({}, ...documents.map(({ components }) => components?.schemas)) as Record<
    string,
    Described
  >;
  const of = (name: string, field: string): string => {
    const found = schemas[name]?.properties?.[field]?.description;
    if (found === undefined) throw new Error(`${name} describes no ${field}`);
    return found;
  };
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  const kind = 'io.k8s.api.core.v1.Namespace';
  return {
    Name: of(meta, 'name'),
    Age: of(meta, 'creationTimestamp'),
    apiVersion: of(kind, 'apiVersion'),
    kind: of(kind, 'kind'),
    metadata: of(kind, 'metadata'),
  };
}

/** Returns the table with the columns of each resource, without values that most columns have. */
export async function withColumns(
  client: Client,
  table: ShapeTable,
  documents: readonly OpenApiDocument[],
): Promise<ShapeTable> {
  const descriptions = descriptionsOf(documents);
  const common = new Map<string, string>(Object.entries(descriptions));
  const compact = ({ name, type, format, description, priority }: Column): Column => ({
    name,
    type,
    ...(format === '' || format === undefined ? {} : { format }),
    ...(priority === 0 || priority === undefined ? {} : { priority }),
    ...(description === undefined || common.get(name) === description ? {} : { description }),
  });
  const resources: DiscoveredResource[] = [];
  for (const resource of table.resources) {
    const columns = resource.verbs.includes('list') ? await columnsOf(client, resource) : [];
    resources.push(columns.length === 0 ? resource : { ...resource, columns: columns.map(compact) });
  }
  return { ...table, resources, descriptions };
}

/**
 * A value that is too large for a single ConfigMap: JSON, compressed, in numbered ConfigMaps beside the run status. The
 * first ConfigMap is written last, so that a large value is either whole or absent.
 */
import { constants } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { resources } from '../../../index.ts';
import { resourcePath } from '../../../kube/resource.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import { textAt } from '../../../kube/wire-path.ts';
import { listPage } from '../process/list-page.ts';
import { statusNamespaceOf } from '../run/cluster.ts';
import type { ApiWriter } from '../write/api-writer.ts';
import { LABEL, LABEL_VALUE } from '../write/kinds.ts';

/** The label of the pieces of a large value, with the large value's name. */
const LARGE_VALUE = 'loadtest.kubeloom.dev/large-value';
/** A ConfigMap holds at most 1 MiB. */
const PIECE_BYTES = 768 * 1024;
/** Pieces in an answer, which may contain 32 MiB. */
const PAGE = 10;
/** More pieces than the longest text that can be parsed. */
const PIECES_MAX = 1000;

interface Piece {
  readonly number: string;
  readonly piece: string;
}

function pathOf(run: string): string {
  return resourcePath(resources.core.v1.configMaps, statusNamespaceOf(run));
}

export async function writeLargeValue(
  api: ApiWriter,
  run: string,
  name: string,
  value: unknown,
): Promise<void> {
  const bytes = await promisify(gzip)(JSON.stringify(value, mapAsPairs));
  const pieces = Math.ceil(bytes.length / PIECE_BYTES);
  for (let number = pieces - 1; number >= 0; number--) {
    const piece = bytes.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES).toString('base64');
    const labels = { [LABEL]: LABEL_VALUE, [LARGE_VALUE]: name };
    await api.send('POST', pathOf(run), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${name}-${number}`, labels },
      data: { number: String(number) },
      binaryData: { piece },
    });
  }
}

/**
 * @returns undefined when there is no such large value
 * @throws ERR_KUBELOOM_LOADTEST when the large value is damaged
 */
export async function readLargeValue(client: ApiClient, run: string, name: string): Promise<unknown> {
  const pieces: Piece[] = [];
  const query = new URLSearchParams({ labelSelector: `${LARGE_VALUE}=${name}`, limit: String(PAGE) });
  for (;;) {
    const path = `${pathOf(run)}?${query.toString()}`;
    const { items, next } = await listPage(client, path, new AbortController().signal);
    for (const item of items)
      pieces.push({ number: textAt(item, 'data.number'), piece: textAt(item, 'binaryData.piece') });
    if (next === '' || pieces.length > PIECES_MAX) break;
    query.set('continue', next);
  }
  pieces.sort((one, other) => Number(one.number) - Number(other.number));
  const [first] = pieces;
  if (first?.number !== '0') return undefined;
  try {
    if (pieces.length > PIECES_MAX) throw new RangeError(`it has more than ${PIECES_MAX} pieces`);
    const bytes = Buffer.concat(pieces.map(({ piece }) => Buffer.from(piece, 'base64')));
    const text = (
      await promisify(gunzip)(bytes, { maxOutputLength: constants.MAX_STRING_LENGTH })
    ).toString();
    const value = parseJson(text, pairsAsMap);
    if (value === undefined) throw new TypeError('it is not JSON');
    return value;
  } catch (cause) {
    const message = `${name} of the run cannot be read: ${messageOf(cause)}`;
    throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
  }
}

/** The only member of the JSON form of a Map. */
const PAIRS = '$pairs';

function mapAsPairs(_: string, value: unknown): unknown {
  return value instanceof Map ? { [PAIRS]: [...value] } : value;
}

function pairsAsMap(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(PAIRS in value)) return value;
  return new Map(value[PAIRS] as readonly [unknown, unknown][]);
}

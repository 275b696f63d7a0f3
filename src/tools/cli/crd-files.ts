/** `--crd FILE`: CustomResourceDefinitions as `kubectl apply -f` takes them, also several in a file. */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { Document } from 'yaml';
import type { EmbeddedApiServer } from '../apiserver/run/embedded-server.ts';
import { KubeloomError, firstLineOf, messageOf } from '../../base/errors.ts';
import { contentOf } from '../loadtest/workload/yaml-content.ts';

/** A document of a file. */
export interface Definition {
  /** The file, and the number of the document. */
  readonly place: string;
  readonly object: object;
}

const KIND = 'CustomResourceDefinition';
const API_VERSION = 'apiextensions.k8s.io/v1';

/** @throws ERR_KUBELOOM_USAGE when the file cannot be read, or contains other objects */
export async function readDefinitions(file: string): Promise<Definition[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw refused(file, messageOf(cause), { cause });
  });
  const definitions: Definition[] = [];
  for (const { place, content: object } of contentsOf(text, file, refused)) {
    const { apiVersion, kind } = Object(object) as { apiVersion?: unknown; kind?: unknown };
    if (apiVersion !== API_VERSION || kind !== KIND) {
      throw refused(place, `it is ${String(apiVersion)} ${String(kind)}, not ${API_VERSION} ${KIND}`);
    }
    definitions.push({ place, object: object as object });
  }
  if (definitions.length === 0) throw refused(file, `it has no ${KIND}`);
  return definitions;
}

export interface DocumentContent {
  readonly place: string;
  readonly content: unknown;
}

/**
 * Returns the documents of a file as plain data, without empty documents: a file may end with a separator.
 *
 * @param refuse makes the error for a place in the file
 */
export function contentsOf(
  text: string,
  file: string,
  refuse: (place: string, reason: string) => Error,
): DocumentContent[] {
  return documentsOf(text, file, refuse).flatMap((document, index) => {
    const place = `${file}, document ${index + 1}`;
    const [broken] = document.errors;
    if (broken !== undefined) throw refuse(place, firstLineOf(broken));
    const content = contentOf(document, (reason) => refuse(place, reason));
    return content === null ? [] : [{ place, content }];
  });
}

function documentsOf(
  text: string,
  file: string,
  refuse: (place: string, reason: string) => Error,
): readonly Document[] {
  try {
    return parseAllDocuments(text);
  } catch (error) {
    // Nesting too deep for the stack of the parser.
    throw refuse(file, firstLineOf(error));
  }
}

/** Makes the server serve the definition. @throws ERR_KUBELOOM_USAGE when the server refuses it */
export async function define(server: EmbeddedApiServer, { place, object }: Definition): Promise<void> {
  const resource = 'customresourcedefinitions.apiextensions.k8s.io';
  await server.apply([{ type: 'create', resource, object }]).catch((cause: unknown) => {
    throw refused(place, messageOf(cause), { cause });
  });
}

function refused(place: string, reason: string, options: { readonly cause?: unknown } = {}): KubeloomError {
  const message = `--crd ${place}: ${reason}`;
  return new KubeloomError('ERR_KUBELOOM_USAGE', message, options);
}

/** Asks the embedded apiserver and a real server the same questions. */
import { builtInKinds } from '../../../src/tools/apiserver/shapes/shapes.ts';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../semantics/client.ts';
import { differences } from './differences.ts';
import { interview, interviewUpdates, manifestsOf } from './interview.ts';
import type { Answer } from './learn-rules.ts';

export interface Comparison {
  /** Differences, sorted, each once. */
  readonly lines: readonly string[];
  readonly questions: number;
}

/** @param real client of a real server */
export async function differencesOfServers(real: Client): Promise<Comparison> {
  const { shapes, ...table } = builtInKinds();
  const server = await startEmbeddedApiServer();
  const embedded = new Client({ url: server.url, token: server.token, ca: server.ca });
  const lines = new Set<string>();
  let questions = 0;
  const compare = (verb: string, kind: string, ours: readonly Answer[], theirs: readonly Answer[]): void => {
    questions += theirs.length;
    for (const [index, answer] of theirs.entries()) {
      const other = ours[index];
      if (other !== undefined) for (const line of differences(verb, kind, answer, other)) lines.add(line);
    }
  };
  try {
    for (const manifest of manifestsOf(table)) {
      const { kind } = manifest.resource;
      const created = await interview(real, shapes, manifest);
      compare('create', kind, await interview(embedded, shapes, manifest), created);
      const { previous, answers } = await interviewUpdates(real, shapes, manifest);
      const ours = await interviewUpdates(embedded, shapes, manifest, previous);
      compare('update', kind, ours.answers, answers);
    }
  } finally {
    await server.close();
  }
  return { lines: [...lines].toSorted(), questions };
}

/** The faults that most tests need: the next requests of a server fail. */
import type {
  EmbeddedApiServer,
  ScenarioMatch,
  ScenarioRule,
} from '../../../../src/tools/apiserver/testing/index.ts';

/** Answers the matching requests with an HTTP status, cuts their connections, or never answers them. */
export function failRequests(
  server: EmbeddedApiServer,
  failure: number | 'reset' | 'hang',
  times: ScenarioRule['times'] = 1,
  match: ScenarioMatch = {},
): Promise<void> {
  const action =
    typeof failure === 'number' ? { type: 'answer' as const, status: failure } : { type: failure };
  return server.setFaults({ rules: [{ faultId: 'failRequests', match, times, action }] });
}

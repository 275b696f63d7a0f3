/** The arguments of the control API as tables: a wrong argument is refused before the call reaches the server. */
import { anything, flag, integer, number, oneOf, text } from '../../../base/option-checks.ts';
import type { OptionCheck } from '../../../base/option-checks.ts';
import type { FaultAction, FaultScenario, ScenarioMatch, ScenarioRule } from '../faults/fault-rules.ts';
import type { LoadOptions, PopulateOptions } from '../load/load.ts';
import type { DropMode } from '../serve/watches.ts';
import type { RbacOptions } from '../wire/rights.ts';
import { RESOURCE, checkShape, listOf, plainObject, shape } from '../store/argument-shapes.ts';
import type { Shape } from '../store/argument-shapes.ts';
import type { Change } from './api-server.ts';

function either(...checks: readonly OptionCheck[]): OptionCheck {
  return (name, value) => {
    const errors = checks.flatMap((each) => {
      try {
        each(name, value);
        return [];
      } catch (error) {
        return [error];
      }
    });
    if (errors.length === checks.length) throw errors[0];
  };
}

const POPULATE: Shape<PopulateOptions> = shape<PopulateOptions>(
  {
    resource: text,
    count: integer(0),
    objectBytes: integer(0),
    namespaces: integer(1),
    firstIndex: integer(0),
  },
  'count',
);

const LOAD: Shape<LoadOptions> = shape<LoadOptions>(
  {
    resource: text,
    rate: either(number(0), oneOf('max', 'max')),
    durationMs: number(0),
    eventsMax: integer(0),
    mix: plainObject,
    objectBytes: integer(0),
    seed: integer(0),
  },
  'rate',
  'durationMs',
);

const DROP: Shape<{ readonly how: DropMode }> = shape<{ readonly how: DropMode }>(
  { how: oneOf(...(['close', 'reset', 'resetMidLine'] satisfies DropMode[])) },
  'how',
);

const RESTART: Shape<{ readonly downMs?: number }> = shape<{ readonly downMs?: number }>({
  downMs: number(0),
});

const RBAC: Shape<RbacOptions> = shape<RbacOptions>({ name: text, namespaces: listOf('texts', text) });

type WriteType = Exclude<Change['type'], 'delete'>;
const WRITE: Shape<{ type: WriteType; resource: string; object: object }> = shape(
  { type: anything, resource: text, object: plainObject },
  'resource',
  'object',
);
const DELETE: Shape<Extract<Change, { type: 'delete' }>> = shape(
  { type: anything, resource: text, namespace: text, name: text },
  'resource',
  'name',
);
const CHANGE_TYPE: OptionCheck = oneOf(...(['create', 'update', 'put', 'delete'] satisfies Change['type'][]));

const MATCH: Shape<ScenarioMatch> = shape<ScenarioMatch>({
  verb: oneOf('list', 'watch', 'other'),
  method: text,
  path: text,
  resource: text,
  connection: either(integer(1), plainObject),
  nth: integer(1),
  afterEvents: integer(0),
  resourceVersion: text,
  query: plainObject,
  token: text,
});

const EVENT_TYPE: OptionCheck = oneOf('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK');

type ActionShapes = {
  readonly [Type in FaultAction['type']]: Shape<Omit<Extract<FaultAction, { type: Type }>, 'type'>>;
};

const ACTIONS: ActionShapes = {
  answer: shape(
    {
      status: integer(100, 999),
      body: either(plainObject, text),
      headers: plainObject,
      retryAfterSeconds: number(0),
    },
    'status',
  ),
  encoded: shape({ encoding: text, body: oneOf('truncated', 'bomb') }, 'encoding', 'body'),
  reset: shape({}),
  hang: shape({}),
  hold: shape({ holdMs: number(0) }),
  lag: shape({ revisions: integer(0) }, 'revisions'),
  'no-initial-events': shape({}),
  'list-metadata': shape({ set: plainObject }, 'set'),
  versions: shape({ prefix: text, digits: integer(0) }, 'prefix', 'digits'),
  end: shape({}),
  cut: shape({ bytes: integer(0), how: oneOf('end', 'reset') }, 'how'),
  'error-event': shape({ status: plainObject }, 'status'),
  insert: shape({ lines: listOf('texts', text), isBase64: flag }, 'lines'),
  duplicate: shape({}),
  drop: shape({ of: EVENT_TYPE }, 'of'),
  older: shape({}),
  swap: shape({}),
  retype: shape({ from: EVENT_TYPE, to: text }, 'from', 'to'),
  graft: shape({ name: text, value: text }, 'name', 'value'),
  bookmark: shape({ offset: integer(-Number.MAX_SAFE_INTEGER), metadata: anything }, 'offset'),
  'endless-line': shape({ megabytes: number(0) }, 'megabytes'),
  mute: shape({}),
};

function checkAction(name: string, value: unknown): void {
  plainObject(name, value);
  const { type, ...members } = value as { readonly type: FaultAction['type'] };
  oneOf(...Object.keys(ACTIONS))(`${name}: type`, type);
  checkShape(name, members, ACTIONS[type] as Shape<object>);
}

const RULE: Shape<ScenarioRule> = shape<ScenarioRule>(
  {
    faultId: text,
    match: (name, value) => checkShape(name, value, MATCH),
    times: either(integer(1), oneOf('always', 'always')),
    action: checkAction,
  },
  'faultId',
  'action',
);

const SCENARIO: Shape<FaultScenario> = shape<FaultScenario>(
  { seed: integer(0), rules: listOf('rules', (name, value) => checkShape(name, value, RULE)) },
  'rules',
);

const CHANGES: OptionCheck = listOf('changes', (name, value) => {
  plainObject(name, value);
  const { type } = value as Change;
  CHANGE_TYPE(`${name}: type`, type);
  if (type === 'delete') checkShape(name, value, DELETE);
  else checkShape(name, value, WRITE);
});

type Argument = 'resource' | 'populate' | 'load' | 'drop' | 'restart' | 'rbac' | 'scenario' | 'changes';

/** The checks of the control API's arguments. Each throws ERR_KUBELOOM_OPTION for a wrong argument. */
export const CONTROL_ARGUMENTS: Readonly<Record<Argument, (value: unknown) => void>> = {
  resource: (value) => checkShape('resource', value, RESOURCE),
  populate: (value) => checkShape('options of populate', value, POPULATE),
  load: (value) => checkShape('options of load', value, LOAD),
  drop: (value) => checkShape('options of dropWatches', value, DROP),
  restart: (value) => checkShape('options of restart', value, RESTART),
  rbac: (value) => checkShape('options of rbac', value, RBAC),
  scenario: (value) => checkShape('scenario', value, SCENARIO),
  changes: (value) => CHANGES('changes', value),
};

/**
 * Codes of all errors, with what each means: docs/errors.md is made from it. A program loads none of these texts: it
 * needs the types only.
 */
import { CALL_ERRORS } from './calls.ts';
import { OBJECT_ERRORS } from './objects.ts';
import { PROGRAM_ERRORS } from './programs.ts';
import { REQUEST_ERRORS } from './requests.ts';
import { RUNNING_ERRORS } from './running.ts';

/** Code of every error of kubeloom. */
export type ErrorCode =
  | keyof typeof CALL_ERRORS
  | keyof typeof REQUEST_ERRORS
  | keyof typeof OBJECT_ERRORS
  | keyof typeof RUNNING_ERRORS
  | keyof typeof PROGRAM_ERRORS;

/**
 * Place where an error appears: a call throws it or rejects with it, `onError` receives it, the health of the informer
 * shows it, Node emits it as a warning, a command ends with it.
 */
export type ErrorPlace = 'thrown' | 'onError' | 'health' | 'warning' | 'exit';

type Row = readonly [places: readonly ErrorPlace[], when: string, remedy: string];

export interface ErrorGroup {
  readonly title: string;
  readonly errors: Readonly<Partial<Record<ErrorCode, Row>>>;
}

export const ERROR_GROUPS: readonly ErrorGroup[] = [
  { title: 'Calls', errors: CALL_ERRORS },
  { title: 'Requests', errors: REQUEST_ERRORS },
  { title: 'Lists, events and objects', errors: OBJECT_ERRORS },
  { title: 'Handlers, functions and threads', errors: RUNNING_ERRORS },
  { title: 'Commands and tests', errors: PROGRAM_ERRORS },
];

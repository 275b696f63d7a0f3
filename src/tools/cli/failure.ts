/** Output for a failed command: a line with a code, and a stack only with `--verbose`. */
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { escapeControls, escapeStack } from '../../base/printable.ts';
import { printText } from './terminal/output.ts';

const EXIT_FAILED = 1;
/** The beginning of commander's messages, which our messages share. */
const COMMANDER_PREFIX = /^error: /;
/** The advice of commander, on a separate line. */
const COMMANDER_ADVICE = /\n\(Did you mean (.*)\)$/;

/** `error: message (CODE)`, and the stack with `--verbose`. */
export function failureText(error: unknown, isVerbose: boolean): string {
  const line = `error: ${escapeControls(lineOf(error))} (${codeOf(error)})`;
  const stack = error instanceof Error ? error.stack : undefined;
  if (!isVerbose || stack === undefined) return line;
  return [line, textOf(error), ...causesOf(error)].join('\n');
}

/** Prints the failure and returns the exit code. Help and version are not failures. */
export function report(error: unknown, isVerbose: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // The help is the message.
    if (error.code === 'commander.help') return EXIT_FAILED;
  }
  printText(failureText(error, isVerbose), process.stderr, 'red');
  return EXIT_FAILED;
}

function lineOf(error: unknown): string {
  const message = messageOf(error);
  return error instanceof CommanderError
    ? message.replace(COMMANDER_PREFIX, '').replace(COMMANDER_ADVICE, ': did you mean $1')
    : message;
}

function codeOf(error: unknown): string {
  if (error instanceof CommanderError) return 'ERR_KUBELOOM_USAGE';
  if (error instanceof KubeloomError) return error.code;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'ERR_KUBELOOM_UNEXPECTED';
}

function causesOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.cause === undefined) return [];
  return [`caused by: ${textOf(error.cause)}`, ...causesOf(error.cause)];
}

/** Returns an error's stack, or the output of `inspect` for a value that is not an error. */
function textOf(thrown: unknown): string {
  const { stack, message } = thrown instanceof Error ? thrown : { stack: inspect(thrown), message: '' };
  return escapeStack(stack ?? message, message);
}

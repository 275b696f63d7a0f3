/** How a command fails: one line with a code, and a stack only for who asks for it. */
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { KubeloomError } from '../errors.ts';
import { escapeControls } from './terminal-text.ts';

const EXIT_FAILED = 1;
/** How commander begins its messages; ours begin alike. */
const COMMANDER_PREFIX = /^error: /;

/** `error: message (CODE)`, and the stack, if wanted. */
export function failureText(error: unknown, isVerbose: boolean): string {
  const line = `error: ${escapeControls(messageOf(error))} (${codeOf(error)})`;
  const stack = error instanceof Error ? error.stack : undefined;
  if (!isVerbose || stack === undefined) return line;
  return [line, ...stack.split('\n').map(escapeControls), ...causesOf(error)].join('\n');
}

/** Prints the failure and returns the exit code. Help and version are no failures. */
export function report(error: unknown, isVerbose: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // The help was printed: that is the message.
    if (error.code === 'commander.help') return EXIT_FAILED;
  }
  console.error(failureText(error, isVerbose));
  return EXIT_FAILED;
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof CommanderError ? message.replace(COMMANDER_PREFIX, '') : message;
}

function codeOf(error: unknown): string {
  if (error instanceof CommanderError) return 'ERR_KUBELOOM_USAGE';
  if (error instanceof KubeloomError) return error.code;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'ERR_KUBELOOM_UNEXPECTED';
}

function causesOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.cause === undefined) return [];
  const { cause } = error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause);
  return [`caused by: ${escapeControls(text)}`, ...causesOf(cause)];
}

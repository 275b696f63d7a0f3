/** Compiles the rules of definitions, `x-kubernetes-validations`. */

import { Environment } from '@marcbachmann/cel-js';
import type { ASTNode } from '@marcbachmann/cel-js';
import { messageOf } from '../../../base/errors.ts';
import { Evaluation, referenceError } from './cel-interpreter.ts';
import type { Scope } from './cel-interpreter.ts';
import { CelError } from './cel-values.ts';

/** A compiled expression. */
export interface CelProgram {
  readonly ast: ASTNode;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
const VARIABLES: ReadonlySet<string> = new Set(['self', 'oldSelf']);

/** @throws Error for an expression that is not CEL */
export function compile(expression: string): CelProgram {
  return environment.parse(expression);
}

/** Returns why the expression is not a rule of this language; undefined for a valid rule. */
export function expressionError(expression: string): string | undefined {
  try {
    return referenceError(compile(expression).ast, VARIABLES);
  } catch (error) {
    return `ERROR: <input>:1:1: ${firstLine(messageOf(error))}`;
  }
}

/** cel-js shows the expression below the message. */
function firstLine(message: string): string {
  return message.split('\n', 1).join('');
}

/** Returns the value or the error of CEL, and the cost, which `costMax` limits. @throws any other error, which is a bug of ours */
export function evaluated(
  { ast }: CelProgram,
  scope: Scope,
  costMax: number,
): { readonly value?: unknown; readonly error?: CelError; readonly cost: number } {
  const evaluation = new Evaluation(costMax);
  try {
    return { value: evaluation.run(ast, scope), cost: evaluation.cost };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { error, cost: evaluation.cost };
  }
}

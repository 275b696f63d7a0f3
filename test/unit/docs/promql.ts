/** Selections of PromQL expressions, by the grammar of Prometheus' own editor. */
import { parser } from '@prometheus-io/lezer-promql';

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

export interface Selection {
  readonly metric: string;
  /** Labels of matchers, and of `on` around the selection. */
  readonly labels: readonly string[];
  /** Labels of `by` around the selection: it has them, or another one beside it. */
  readonly by: readonly string[];
  /** The function that is applied to the samples of a range: `rate`; undefined for a selection of one moment. */
  readonly rangeFunction: string | undefined;
}

/** Grafana's variable in the place of a duration is no PromQL. */
const RANGE = '$__rate_interval';
/** Functions of the dashboard's variables: `label_values(metric{…}, label)`. */
const VALUES = /^label_values\((.*), *(\w+)\)$/s;

/**
 * Returns every selection of an expression.
 * @throws for text that is no PromQL
 */
export function selections(expression: string): Selection[] {
  const text = expression.replaceAll(RANGE, '5m');
  const tree = parser.parse(text);
  const textOf = (node: SyntaxNode): string => text.slice(node.from, node.to);
  const found: Selection[] = [];
  tree.iterate({
    enter: ({ type, node, from }) => {
      if (type.isError) throw new Error(`no PromQL at character ${from}: ${text}`);
      if (type.name !== 'VectorSelector') return;
      const labelsOf = (clause: string): string[] =>
        ancestors(node)
          .flatMap((around) => around.getChildren(clause))
          .flatMap((around) => descendants(around, 'LabelName').map(textOf));
      const ranged = ancestors(node).find(({ name }) => name === 'FunctionCall');
      const call = ranged?.getChild('FunctionIdentifier');
      found.push({
        metric: textOf(node.getChild('Identifier') ?? node),
        labels: [...descendants(node, 'LabelName').map(textOf), ...labelsOf('MatchingModifierClause')],
        by: labelsOf('AggregateModifier'),
        rangeFunction: node.parent?.name === 'MatrixSelector' && call ? textOf(call) : undefined,
      });
    },
  });
  return found;
}

/** Returns the selection of `label_values(…)`, with its label. */
export function selectionOfVariable(query: string): Selection {
  const [, selector, label = ''] = VALUES.exec(query) ?? [];
  const [selection] = selector === undefined ? [] : selections(selector);
  if (!selection) throw new Error(`no label_values(metric, label): ${query}`);
  return { ...selection, labels: [...selection.labels, label] };
}

function ancestors(node: SyntaxNode): SyntaxNode[] {
  return node.parent ? [node.parent, ...ancestors(node.parent)] : [];
}

function descendants(node: SyntaxNode, name: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate(({ name: own, node: inner }) => {
    if (own === name) found.push(inner);
  });
  return found;
}

/** The metrics that a template names, in alarms and in dashboards. */
import { ofType, type Template } from './template.ts';

export interface NamedMetric {
  readonly where: string;
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
  /** Only if the alarm sets one. */
  readonly unit?: string;
}

/** A widget of a dashboard, with the fields that these tests read. */
interface Widget {
  readonly type: string;
  readonly y: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: readonly string[];
    readonly metrics?: readonly (readonly unknown[])[];
    readonly annotations?: { readonly horizontal?: readonly { readonly value: number }[] };
  };
}

/** The text of a dashboard, with a placeholder for each reference. */
const textOf = (body: unknown): string => {
  if (typeof body === 'string') return body;
  const [separator, parts] = (body as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return parts.map((part) => (typeof part === 'string' ? part : 'REFERENCE')).join(separator);
};

export const widgetsOf = (template: Template): readonly Widget[] =>
  ofType(template, 'AWS::CloudWatch::Dashboard').flatMap(
    ([, { DashboardBody }]) => (JSON.parse(textOf(DashboardBody)) as { widgets: Widget[] }).widgets,
  );

/** `[namespace, name, dimension, value, …, {options}]`; an expression has options alone. */
const inGraph = (where: string, line: readonly unknown[]): NamedMetric[] => {
  const words = line.filter((each) => typeof each === 'string');
  const [namespace = '', name = '', ...pairs] = words;
  if (words.length === 0) return [];
  const dimensions = Object.fromEntries(
    pairs.flatMap((each, index) => (index % 2 === 0 ? [[each, pairs[index + 1]]] : [])),
  );
  return [{ where, namespace, name, dimensions }];
};

export const metricsOfDashboards = (template: Template): NamedMetric[] =>
  widgetsOf(template).flatMap(({ properties: { title = '', metrics = [] } }) =>
    metrics.flatMap((line) => inGraph(title, line)),
  );

export const metricsOfAlarms = (template: Template): NamedMetric[] =>
  ofType(template, 'AWS::CloudWatch::Alarm').map(([where, { Namespace, MetricName, Dimensions, Unit }]) => ({
    where,
    namespace: String(Namespace),
    name: String(MetricName),
    dimensions: Object.fromEntries(
      (Dimensions as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [Name, Value]),
    ),
    ...(Unit === undefined ? {} : { unit: String(Unit) }),
  }));

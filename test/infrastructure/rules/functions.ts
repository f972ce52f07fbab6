/** What every λ promises. */
import { functionsOf, isInLoop, sourcesOf } from './flow.ts';
import { differing, idOf, ofType, type Rule } from './template.ts';

/** Cheaper than x86, and the Node.js that the tests run on. */
export const functionsRunWhereTested: Rule = (template) =>
  functionsOf(template).flatMap(([id, properties]) =>
    differing(id, properties, {
      Architectures: ['arm64'],
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      PackageType: undefined,
      'Environment.Variables.NODE_OPTIONS': '--enable-source-maps',
    }),
  );

/** Lambda's own 128 MB is a fraction of a processor; beyond 1,769 MB come processors that one event loop cannot use. */
export const functionsHaveAFairShareOfAProcessor: Rule = (template) =>
  functionsOf(template).flatMap(([id, { MemorySize }]) =>
    typeof MemorySize === 'number' && MemorySize >= 512 && MemorySize <= 1_769
      ? []
      : [`${id}: MemorySize is ${MemorySize}, not 512 to 1769`],
  );

/** Reserved concurrency throttles, and messages that are throttled often enough become dead letters. */
export const functionsReserveNothing: Rule = (template) =>
  functionsOf(template).flatMap(([id, properties]) =>
    differing(id, properties, { ReservedConcurrentExecutions: undefined }),
  );

export const functionsKeepLogsOfTheirOwn: Rule = (template) => {
  const groups = functionsOf(template).map(([id, properties]) => ({
    id,
    properties,
    group: idOf((properties.LoggingConfig as { LogGroup?: unknown } | undefined)?.LogGroup),
  }));
  return [
    ...groups.flatMap(({ id, properties, group }) => [
      ...differing(id, properties, { 'LoggingConfig.LogFormat': 'JSON' }),
      ...(template.Resources[group]?.Type === 'AWS::Logs::LogGroup' ? [] : [`${id}: has no log group in the template`]),
      ...(groups.some((other) => other.id !== id && other.group === group) ? [`${id}: shares ${group}`] : []),
    ]),
    ...ofType(template, 'AWS::Logs::LogGroup').flatMap(([id, properties]) => [
      ...differing(id, properties, { RetentionInDays: 30 }),
      ...differing(id, template.Resources[id] ?? {}, { DeletionPolicy: 'Delete' }),
    ]),
  ];
};

/**
 * Lambda ends a chain of messages that reaches one λ about sixteen times. Where that is the design, it must not; so too
 * for the other λs with a queue, since a template does not show the whole chain: a finished task's follow-up is
 * registered by somebody else's code, and sixteen follow-ups are no runaway. What bounds one is MaximumConcurrency. λs
 * without a queue get no messages: there the setting would only promise something that cannot happen.
 */
export const messagesMayComeBack: Rule = (template) => {
  const withQueue = new Set(sourcesOf(template).map(({ fn }) => fn));
  return functionsOf(template).flatMap(([id, properties]) => {
    const promised = withQueue.has(id) ? 'Allow' : undefined;
    const why = isInLoop(template, id) ? ' (its messages come back to it)' : '';
    return differing(id, properties, { RecursiveLoop: promised }).map((complaint) => `${complaint}${why}`);
  });
};

/** Two sweeps at once would only be in each other's way; one that failed is followed by the next, not repeated. */
export const scheduledFunctionsEndBeforeTheNext: Rule = (template) =>
  ofType(template, 'AWS::Events::Rule').flatMap(([id, properties]) => {
    // It invokes nothing: it puts messages into a queue.
    if (properties.EventPattern !== undefined) return [];
    const { ScheduleExpression, Targets = [] } = properties as { ScheduleExpression?: string; Targets?: object[] };
    const [, minutes = '0'] = /^rate\((\d+) minutes?\)$/.exec(ScheduleExpression ?? '') ?? [];
    const repeats = new Map(
      ofType(template, 'AWS::Lambda::EventInvokeConfig').map(([, each]) => [
        idOf(each.FunctionName),
        each.MaximumRetryAttempts,
      ]),
    );
    return [
      ...differing(id, properties, { State: 'ENABLED', ScheduleExpression: 'rate(1 minute)' }),
      ...Targets.map((target) => idOf((target as { Arn?: unknown }).Arn)).flatMap((fn) => [
        ...(Number(template.Resources[fn]?.Properties.Timeout) < Number(minutes) * 60
          ? []
          : [`${fn}: may still run when ${id} invokes it again`]),
        ...(repeats.get(fn) === 0 ? [] : [`${fn}: is repeated at once when it fails`]),
      ]),
    ];
  });

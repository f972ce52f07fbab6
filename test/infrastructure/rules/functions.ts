/** Rules that hold for every function. */
import { functionsOf, isInLoop, sourcesOf } from './flow.ts';
import { differing, idOf, ofType, type Rule } from './template.ts';

/** arm64 is cheaper than x86, and the tests run on this version of Node.js. */
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

/**
 * With less than 512 MB, a function gets a small part of a vCPU. Beyond 1,769 MB it gets more than one vCPU, which a
 * single event loop cannot use.
 */
export const functionsHaveAFairShareOfAProcessor: Rule = (template) =>
  functionsOf(template).flatMap(([id, { MemorySize }]) =>
    typeof MemorySize === 'number' && MemorySize >= 512 && MemorySize <= 1_769
      ? []
      : [`${id}: MemorySize is ${MemorySize}, not 512 to 1769`],
  );

/** Reserved concurrency throttles a function, and messages that are throttled often become dead letters. */
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
    ...ofType(template, 'AWS::Logs::LogGroup').flatMap(([id, properties]) =>
      differing(id, properties, { RetentionInDays: 30 }),
    ),
  ];
};

/**
 * Lambda stops a chain of messages that reaches one function about 16 times. Functions of a loop, and the other
 * functions with a queue, must allow such chains: a callback of a finished task may register a follow-up, and the
 * template does not show that part. MaximumConcurrency limits a runaway loop. Functions without a queue receive no
 * messages, so the setting has no effect there.
 */
export const messagesMayComeBack: Rule = (template) => {
  const withQueue = new Set(sourcesOf(template).map(({ fn }) => fn));
  return functionsOf(template).flatMap(([id, properties]) => {
    const promised = withQueue.has(id) ? 'Allow' : undefined;
    const why = isInLoop(template, id) ? ' (its messages come back to it)' : '';
    return differing(id, properties, { RecursiveLoop: promised }).map((complaint) => `${complaint}${why}`);
  });
};

/**
 * Two sweeps at once would do the same work. A failed sweep is not retried, and a throttled one does not wait longer
 * than a minute, since the next one follows by then.
 */
export const scheduledFunctionsEndBeforeTheNext: Rule = (template) =>
  ofType(template, 'AWS::Events::Rule').flatMap(([id, properties]) => {
    // A rule with an event pattern invokes no function: it puts messages into a queue.
    if (properties.EventPattern !== undefined) return [];
    const { ScheduleExpression, Targets = [] } = properties as { ScheduleExpression?: string; Targets?: object[] };
    const [, minutes = '0'] = /^rate\((\d+) minutes?\)$/.exec(ScheduleExpression ?? '') ?? [];
    const settings = new Map(
      ofType(template, 'AWS::Lambda::EventInvokeConfig').map(([, each]) => [idOf(each.FunctionName), each]),
    );
    return [
      ...differing(id, properties, { State: 'ENABLED', ScheduleExpression: 'rate(1 minute)' }),
      ...Targets.map((target) => idOf((target as { Arn?: unknown }).Arn)).flatMap((fn) => [
        ...(Number(template.Resources[fn]?.Properties.Timeout) < Number(minutes) * 60
          ? []
          : [`${fn}: may still run when ${id} invokes it again`]),
        ...(settings.get(fn)?.MaximumRetryAttempts === 0 ? [] : [`${fn}: is retried at once when it fails`]),
        ...(settings.get(fn)?.MaximumEventAgeInSeconds === 60
          ? []
          : [`${fn}: throttled runs pile up while ${id} invokes it`]),
      ]),
    ];
  });

/** In a kept stack, removing the stack deletes no logs. In other stacks nothing remains. */
export const logsOutliveTheirStack =
  (kept: boolean): Rule =>
  (template) =>
    ofType(template, 'AWS::Logs::LogGroup').flatMap(([id]) => {
      const policy = kept ? 'RetainExceptOnCreate' : 'Delete';
      return differing(id, template.Resources[id] ?? {}, { DeletionPolicy: policy });
    });

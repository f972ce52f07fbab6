import { describe, expect, it } from 'vitest';
import { handlerTimeout } from '../../../src/domain/config/resolved.ts';
import { aConfig } from '../../factories/factories.ts';
import { add, copy, promise, remove, set } from '../promise.ts';
import {
  gatewaysAskForCredentials,
  onlyKnownServicesMayInvoke,
  settingsAreReferences,
  urlsAskForCredentials,
} from '../rules/access.ts';
import { functionsOf } from '../rules/flow.ts';
import {
  functionsHaveAFairShareOfAProcessor,
  functionsKeepLogsOfTheirOwn,
  functionsReserveNothing,
  functionsRunWhereTested,
  logsOutliveTheirStack,
  scheduledFunctionsEndBeforeTheNext,
} from '../rules/functions.ts';
import { GATEWAYS, OURS, SUBJECTS } from '../templates.ts';

const FUNCTION = 'AWS::Lambda::Function';

describe('the functions', () => {
  it.each(SUBJECTS)('are six, plus a callback function for destinations, in $name', ({ template, tells }) =>
    expect(
      functionsOf(template).map(([id]) => /(\w+)HandlerFunction/.exec(id)?.[1]?.replace(/^(Groupage)?Flow/, '')),
    ).toEqual(['Register', 'Elect', 'Group', 'Batch', ...(tells ? ['Callback'] : []), 'Sweep', 'Api']),
  );

  it.each(OURS)('include a batch handler with time for its longest attempt, in $name', ({ template }) =>
    expect(functionsOf(template).find(([id]) => /BatchHandler/.test(id))?.[1].Timeout).toBe(
      handlerTimeout(aConfig()) / 1_000,
    ),
  );
});

promise('functions run on arm64 and the tested Node.js', functionsRunWhereTested, [
  ['another architecture', set(FUNCTION, 'Architectures', ['x86_64']), /Architectures is \["x86_64"\]/],
  ['another Node.js version', set(FUNCTION, 'Runtime', 'nodejs22.x'), /Runtime is "nodejs22.x"/],
  ['a new function that sets neither', add('NewFunction', FUNCTION), /NewFunction: Architectures is undefined/],
]);

promise('every function has 512 MB to 1,769 MB of memory', functionsHaveAFairShareOfAProcessor, [
  ["Lambda's default memory", set(FUNCTION, 'MemorySize', undefined), /MemorySize is undefined/],
  ['too little memory', set(FUNCTION, 'MemorySize', 128), /MemorySize is 128/],
  ['too much memory', set(FUNCTION, 'MemorySize', 3_008), /MemorySize is 3008/],
]);

promise('no function reserves concurrency', functionsReserveNothing, [
  [
    'a function with reserved concurrency',
    set(FUNCTION, 'ReservedConcurrentExecutions', 5),
    /ReservedConcurrentExecutions is 5/,
  ],
]);

promise('functions keep own JSON logs for a month', functionsKeepLogsOfTheirOwn, [
  ['the text format', set(FUNCTION, 'LoggingConfig.LogFormat', 'Text'), /LogFormat is "Text"/],
  ["Lambda's own log group", set(FUNCTION, 'LoggingConfig', undefined), /has no log group/],
  ['a shared log group', copy(FUNCTION, /ElectHandler/, 'NewFunction'), /NewFunction: shares .*ElectHandlerLogs/],
  ['logs without an expiry', set('AWS::Logs::LogGroup', 'RetentionInDays', undefined), /RetentionInDays is undefined/],
]);

const LOGS = 'AWS::Logs::LogGroup';
/** Sets the policy of every log group, which stands beside its properties. */
const policy = (value: string) => (template: object) => {
  for (const resource of Object.values(Reflect.get(template, 'Resources') as Record<string, { Type: string }>))
    if (resource.Type === LOGS) Object.assign(resource, { DeletionPolicy: value });
};

promise(
  'logs of a kept stack outlive it',
  logsOutliveTheirStack(true),
  [['logs deleted with the stack', policy('Delete'), /DeletionPolicy is "Delete"/]],
  SUBJECTS.filter((each) => each.kept),
);

promise(
  'logs of a stage that is not kept go with its stack',
  logsOutliveTheirStack(false),
  [['retained logs', policy('Retain'), /DeletionPolicy is "Retain"/]],
  SUBJECTS.filter((each) => !each.kept),
);

promise('the sweep runs each minute without overlap or retry', scheduledFunctionsEndBeforeTheNext, [
  ['a disabled schedule', set('AWS::Events::Rule', 'State', 'DISABLED'), /State is "DISABLED"/],
  ['another rate', set('AWS::Events::Rule', 'ScheduleExpression', 'rate(5 minutes)'), /ScheduleExpression is/],
  ['a timeout of a whole minute', set(FUNCTION, 'Timeout', 60, /SweepHandler/), /may still run/],
  ['retries', remove('AWS::Lambda::EventInvokeConfig'), /is retried at once/],
  [
    'throttled runs kept for hours',
    set('AWS::Lambda::EventInvokeConfig', 'MaximumEventAgeInSeconds', undefined),
    /throttled runs pile up/,
  ],
]);

promise('function URLs require IAM, and allow no CORS', urlsAskForCredentials, [
  ['a URL without credentials', set('AWS::Lambda::Url', 'AuthType', 'NONE'), /AuthType is "NONE"/],
  ['a URL with CORS', set('AWS::Lambda::Url', 'Cors', { AllowOrigins: ['*'] }), /Cors is/],
]);

promise(
  'API Gateway requires IAM, and allows no CORS',
  gatewaysAskForCredentials,
  [
    [
      'a route without credentials',
      set('AWS::ApiGatewayV2::Route', 'AuthorizationType', 'NONE'),
      /AuthorizationType is "NONE"/,
    ],
    [
      'a method without credentials',
      add('NewMethod', 'AWS::ApiGateway::Method', { AuthorizationType: 'NONE' }),
      /NewMethod: AuthorizationType is "NONE"/,
    ],
    ['an API with CORS', set('AWS::ApiGatewayV2::Api', 'CorsConfiguration', { AllowOrigins: ['*'] }), /CorsConf.* is/],
  ],
  GATEWAYS,
);

const PERMISSION = 'AWS::Lambda::Permission';
promise('functions are invoked on behalf of this stack only', onlyKnownServicesMayInvoke, [
  ['a permission for everyone', set(PERMISSION, 'Principal', '*'), /lets "\*" invoke/],
  ['a service without a source', set(PERMISSION, 'SourceArn', undefined), /does not say on whose behalf/],
  [
    'a URL without credentials',
    add('NewPermission', PERMISSION, {
      Principal: '*',
      FunctionUrlAuthType: 'NONE',
      Action: 'lambda:InvokeFunctionUrl',
    }),
    /NewPermission: FunctionUrlAuthType is "NONE"/,
  ],
]);

promise('every setting of a function is a reference', settingsAreReferences, [
  [
    'a literal table name',
    set(FUNCTION, 'Environment.Variables.GROUPAGE_TASK_TABLE', 'tasks'),
    /GROUPAGE_TASK_TABLE is not a reference/,
  ],
  [
    'a literal stack name',
    set(FUNCTION, 'Environment.Variables.GROUPAGE_STACK', 'Groupage-dev-Flow'),
    /GROUPAGE_STACK is not a reference/,
  ],
  [
    'state machines of another account',
    set(FUNCTION, 'Environment.Variables.GROUPAGE_STATE_MACHINES', 'arn:aws:states:eu-west-1:1:stateMachine:'),
    /GROUPAGE_STATE_MACHINES is not a reference/,
  ],
]);

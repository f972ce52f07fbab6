import { describe, expect, it } from 'vitest';
import { handlerTimeout } from '../../../src/domain/config/resolved.ts';
import { aConfig } from '../../factories/factories.ts';
import { add, copy, promise, remove, set } from '../promise.ts';
import { onlyKnownServicesMayInvoke, settingsAreReferences, urlsAskForCredentials } from '../rules/access.ts';
import { functionsOf } from '../rules/flow.ts';
import {
  functionsHaveAFairShareOfAProcessor,
  functionsKeepLogsOfTheirOwn,
  functionsReserveNothing,
  functionsRunWhereTested,
  scheduledFunctionsEndBeforeTheNext,
} from '../rules/functions.ts';
import { OURS, SUBJECTS } from '../templates.ts';

const FUNCTION = 'AWS::Lambda::Function';

describe('the functions', () => {
  it.each(SUBJECTS)('are six, and one for events where there are destinations, in $name', ({ template, tells }) =>
    expect(
      functionsOf(template).map(([id]) => /(\w+)HandlerFunction/.exec(id)?.[1]?.replace(/^(Groupage)?Flow/, '')),
    ).toEqual(['Register', 'Elect', 'Group', 'Batch', ...(tells ? ['Callback'] : []), 'Sweep', 'Api']),
  );

  it.each(OURS)('that calls downstream may run as long as its longest attempt, in $name', ({ template }) =>
    expect(functionsOf(template).find(([id]) => /BatchHandler/.test(id))?.[1].Timeout).toBe(
      handlerTimeout(aConfig()) / 1_000,
    ),
  );
});

promise('every function runs on arm64 and the Node.js that was tested', functionsRunWhereTested, [
  ['another processor', set(FUNCTION, 'Architectures', ['x86_64']), /Architectures is \["x86_64"\]/],
  ['another Node.js', set(FUNCTION, 'Runtime', 'nodejs22.x'), /Runtime is "nodejs22.x"/],
  ['a new one that does not say', add('NewFunction', FUNCTION), /NewFunction: Architectures is undefined/],
]);

promise(
  'every function has a fair share of a processor, and none that it cannot use',
  functionsHaveAFairShareOfAProcessor,
  [
    ["Lambda's default", set(FUNCTION, 'MemorySize', undefined), /MemorySize is undefined/],
    ['too little', set(FUNCTION, 'MemorySize', 128), /MemorySize is 128/],
    ['too much', set(FUNCTION, 'MemorySize', 3_008), /MemorySize is 3008/],
  ],
);

promise('no function reserves concurrency', functionsReserveNothing, [
  ['one that does', set(FUNCTION, 'ReservedConcurrentExecutions', 5), /ReservedConcurrentExecutions is 5/],
]);

promise('every function keeps its logs for a month, as JSON, in a group of its own', functionsKeepLogsOfTheirOwn, [
  ['text', set(FUNCTION, 'LoggingConfig.LogFormat', 'Text'), /LogFormat is "Text"/],
  ["Lambda's own group, which keeps everything", set(FUNCTION, 'LoggingConfig', undefined), /has no log group/],
  ['a shared group', copy(FUNCTION, /ElectHandler/, 'NewFunction'), /NewFunction: shares .*ElectHandlerLogs/],
  ['logs for ever', set('AWS::Logs::LogGroup', 'RetentionInDays', undefined), /RetentionInDays is undefined/],
]);

promise('the sweep runs each minute, ends before the next, and is not repeated', scheduledFunctionsEndBeforeTheNext, [
  ['one that is switched off', set('AWS::Events::Rule', 'State', 'DISABLED'), /State is "DISABLED"/],
  ['another pace', set('AWS::Events::Rule', 'ScheduleExpression', 'rate(5 minutes)'), /ScheduleExpression is/],
  ['one that overlaps', set(FUNCTION, 'Timeout', 60, /SweepHandler/), /may still run/],
  ['one that is repeated', remove('AWS::Lambda::EventInvokeConfig'), /is repeated at once/],
]);

promise('every function URL asks for credentials, and is for no web page', urlsAskForCredentials, [
  ['an open one', set('AWS::Lambda::Url', 'AuthType', 'NONE'), /AuthType is "NONE"/],
  ['one for web pages', set('AWS::Lambda::Url', 'Cors', { AllowOrigins: ['*'] }), /Cors is/],
]);

const PERMISSION = 'AWS::Lambda::Permission';
promise('only an AWS service that works for this stack may invoke a function', onlyKnownServicesMayInvoke, [
  ['everybody', set(PERMISSION, 'Principal', '*'), /lets "\*" invoke/],
  ["a service on anybody's behalf", set(PERMISSION, 'SourceArn', undefined), /does not say on whose behalf/],
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
    'a name that is written out',
    set(FUNCTION, 'Environment.Variables.GROUPAGE_TASK_TABLE', 'tasks'),
    /GROUPAGE_TASK_TABLE is not a reference/,
  ],
  [
    'a stack that is written out',
    set(FUNCTION, 'Environment.Variables.GROUPAGE_STACK', 'Groupage-dev-Flow'),
    /GROUPAGE_STACK is not a reference/,
  ],
  [
    "somebody else's state machines",
    set(FUNCTION, 'Environment.Variables.GROUPAGE_STATE_MACHINES', 'arn:aws:states:eu-west-1:1:stateMachine:'),
    /GROUPAGE_STATE_MACHINES is not a reference/,
  ],
]);

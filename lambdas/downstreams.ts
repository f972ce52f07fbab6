/**
 * Creates the downstream of each operation, of any kind. This file is separate from `compose.ts`, so that only the
 * batch handler's bundle contains the clients.
 */
import { timed } from '../src/aws/call-time.ts';
import { type DownstreamTarget, type HttpTarget, hasOwnFormat, inRegionOf } from '../src/domain/config/endpoints.ts';
import { type Config, operationFor } from '../src/domain/config/resolved.ts';
import { type Environment, optionalSetting } from '../src/domain/deployed/environment.ts';
import type { Downstream } from '../src/domain/downstream/downstream.ts';
import type { Secrets } from '../src/domain/downstream/secret.ts';
import type { Millis, OperationName } from '../src/domain/ids.ts';
import { httpDownstream } from '../src/downstreams/http.ts';
import type { CallSurroundings } from '../src/downstreams/http-format.ts';
import { queueDownstream } from '../src/downstreams/queue.ts';
import type { Machine, Report } from '../src/ports/machine.ts';
import type { ProcessedKeys } from '../src/ports/processed.ts';
import { arnOf, clientOfQueue } from './arns.ts';
import type { Host } from './host.ts';
import { once } from './lazy.ts';
import { secretsOf } from './secrets.ts';

export const downstreamsOf = (
  config: Config,
  environment: Environment,
  host: Host,
  merging: Merging,
): ((name: OperationName) => Downstream) => {
  const { now } = merging.machine;
  const given: Given = { environment, host, now, secrets: secretsOf(host, { now }) };
  const made = new Map<OperationName, Downstream>();
  const make = (name: OperationName): Downstream => {
    const { downstream, merge, keepTasks } = operationFor(config, name);
    const direct = makeDownstream(downstream, given);
    return merge ? whenMerged(direct, { ...merging, ...merge, keepTasks }) : direct;
  };
  return (name) => {
    const downstream = made.get(name) ?? make(name);
    made.set(name, downstream);
    return downstream;
  };
};

/** What the downstreams of merging operations need. */
interface Merging {
  readonly processed: ProcessedKeys;
  readonly machine: Machine;
  readonly report: Report;
}

interface Given {
  readonly environment: Environment;
  readonly host: Host;
  readonly now: Machine['now'];
  readonly secrets: Secrets;
}

const makeDownstream = (target: DownstreamTarget, { environment, host, now, secrets }: Given): Downstream => {
  switch (target.kind) {
    case 'http':
      return makeHttp(target, {
        now,
        secrets,
        ...(host.services ? {} : { sign: signerOf(environment, host) }),
      });
    case 'lambda': {
      const at = host.services?.lambda ?? inRegionOf(target.function);
      if ('missing' in at) return unreachable(at.missing);
      return whenCalled(async () => {
        const { lambdaClient, lambdaDownstream } = await import('../src/downstreams/lambda.ts');
        // The call may take as long as the operation's timeout.
        return lambdaDownstream(target, timed(lambdaClient(at), Number.POSITIVE_INFINITY));
      });
    }
    case 'step-functions': {
      const at = host.services?.stepFunctions ?? inRegionOf(target.stateMachine);
      if ('missing' in at) return unreachable(at.missing);
      const arn = arnOf(target.stateMachine, 'stateMachines', environment);
      return whenCalled(async () => {
        const { stepFunctionsClient, stepFunctionsDownstream } = await import('../src/downstreams/step-functions.ts');
        return stepFunctionsDownstream(
          target,
          arn,
          timed(stepFunctionsClient(at)),
          optionalSetting(environment, 'executions'),
        );
      });
    }
    case 'queue':
      return queueDownstream(target, clientOfQueue(target.name, environment, host));
  }
};

/** Code for formats and authorizations is loaded on demand, because most operations need none. */
const makeHttp = (target: HttpTarget, surroundings: CallSurroundings): Downstream =>
  hasOwnFormat(target)
    ? whenCalled(async () => {
        const { formattedDownstream } = await import('../src/downstreams/formatted-http.ts');
        return formattedDownstream(target, surroundings);
      })
    : httpDownstream(target, surroundings);

/** Signs with the credentials of the clients, which are those of the batch handler's role. */
const signerOf =
  ({ AWS_REGION }: Environment, { clients }: Host): NonNullable<CallSurroundings['sign']> =>
  async (request, as) => {
    const { callSigner } = await import('../src/aws/signed-request.ts');
    const { credentials, sha256, region } = clients.sqs.config;
    return callSigner(() => ({ region: AWS_REGION ?? region, credentials, sha256 }))(request, as);
  };

/** @param load loads a downstream that does not interpret job reports itself. */
const whenCalled = (load: () => Promise<Pick<Downstream, 'call'>>): Downstream => {
  const loaded = once(load);
  return { call: async (call) => (await loaded()).call(call) };
};

const whenMerged = (direct: Downstream, merging: Merging & { keys: string; keepTasks: Millis }): Downstream => {
  const loaded = once(async () => {
    const { mergingDownstream } = await import('../src/steps/merge/merging-downstream.ts');
    return mergingDownstream(direct, merging);
  });
  return {
    call: async (call) => (await loaded()).call(call),
    reported: async (...report) => (await loaded()).reported(...report),
  };
};

const unreachable = (reason: string): Downstream => ({
  call: async () => ({ kind: 'unavailable', reason, mayRetryAtOnce: false }),
});

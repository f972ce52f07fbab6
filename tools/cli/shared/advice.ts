/** Gets advice about an operation: from the console of a local stack, or from the metrics of a deployed one. */
import * as z from 'zod/mini';
import type { Advice } from '../../console/server/shapes.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { printable } from '../../terminal.ts';
import { apiClient } from './api-client.ts';
import { type CommonOptions, localStack } from './connect.ts';

const ADVICE = z.looseObject({
  operation: z.string(),
  kind: z.string(),
  measured: z.optional(z.string()),
  text: z.string(),
  basis: z.optional(z.string()),
}) as unknown as z.ZodMiniType<Advice>;

/** @throws WrongUsage @throws CommandFailure */
export const adviceOf = async (operation: string, { api, stack }: CommonOptions): Promise<Advice> => {
  if (stack !== undefined) return ofStack(operation, stack, api);
  if (api !== undefined)
    throw new WrongUsage('--advice needs the metrics of the stack: name it with --stack, not only the URL of its API');
  const { console: url, api: of } = localStack();
  // The local stack keeps its metrics in its own process.
  if (url === undefined)
    throw new CommandFailure(`the local stack at ${of} has no console. Stop that stack and start it again`);
  return (await apiClient(url).get(`/console/advice?${new URLSearchParams({ operation })}`, ADVICE)).value;
};

const ofStack = async (operation: string, stack: string, api: string | undefined): Promise<Advice> => {
  const { reachStack } = await import('./stack-api.ts');
  const { remoteCall } = await import('../../console/server/call.ts');
  const { cloudWatchMetrics } = await import('../../console/server/cloudwatch-metrics.ts');
  const { advise } = await import('../../console/server/advice/advise.ts');
  const { service, account, url, send } = await reachStack(stack, api);
  const metrics = cloudWatchMetrics({ service, region: account.region, operations: () => [operation] });
  return advise(remoteCall(url, send), metrics, operation);
};

export const describeAdvice = ({ measured, text, basis }: Advice): string =>
  [measured, text, basis].flatMap((each) => (each === undefined ? [] : [printable(each)])).join('\n');

/**
 * What surrounds the handlers: Lambda, or a process that replaces it. Unlike `compose.ts`, this file loads no library of
 * Lambda, so that the published package can run the bundled handlers on a user's machine.
 */
import { setTimeout } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { ulid } from 'ulid';
import type { AwsClients } from '../src/aws/clients.ts';
import type { Secrets } from '../src/domain/downstream/secret.ts';
import type { Token } from '../src/domain/ids.ts';
import type { Invocation, Machine, Report } from '../src/ports/machine.ts';
import { within } from '../src/ports/machine.ts';
import type { Log } from './log.ts';

/** What the handlers get from the environment in which they run: Lambda, or a process that replaces it. */
export interface Host {
  readonly clients: AwsClients;
  readonly log: Log;
  /** Is called with every event that is logged. */
  readonly onEvent?: Report;
  /** @default - AWS's services, as the SDK finds them */
  readonly services?: Services;
  /** How a step sleeps. @default - a timer */
  readonly sleep?: Machine['sleep'];
}

/** Replacements for AWS services that only some configurations need. */
export interface Services {
  readonly lambda: ServiceAt;
  readonly stepFunctions: ServiceAt;
  readonly topics: ServiceAt;
  readonly eventBuses: ServiceAt;
  readonly secrets: Secrets;
}

/** Options for a client, or the reason why there is no service to call. */
export type ServiceAt =
  | { readonly missing: string }
  | {
      readonly endpoint?: string;
      readonly region?: string;
      readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
    };

export const machine: Machine = {
  now: Date.now,
  sleep: async (duration) => setTimeout(duration),
  within,
  random: Math.random,
  token: () => ulid() as Token,
};

export const invocationOf = (context: Context): Invocation => ({ timeLeft: () => context.getRemainingTimeInMillis() });

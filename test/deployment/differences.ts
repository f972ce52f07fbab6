/**
 * The differences between the emulator's deployed stack and one in AWS. A test compares the table in
 * docs/how-to/test-groupage.md with this list.
 */
import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { GetFunctionRecursionConfigCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { DeployedBackend } from '../backends/deployed.ts';

export interface CloudDifference {
  /** As in the documentation. */
  readonly what: string;
  ask(backend: DeployedBackend): Promise<string>;
  readonly answers: Readonly<Record<'ministack' | 'aws', string>>;
}

export const CLOUD_DIFFERENCES: readonly CloudDifference[] = [
  {
    what: 'the expiry of a table, as set in its template',
    ask: async ({ clients, settings }) => {
      const { TimeToLiveDescription } = await clients.dynamodb.send(
        new DescribeTimeToLiveCommand({ TableName: setting(settings, 'taskTable') }),
      );
      return /^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '') ? 'on' : 'ignored';
    },
    answers: { ministack: 'ignored', aws: 'on' },
  },
  {
    what: 'RecursiveLoop: Allow of the group function',
    ask: async ({ nameOf }) => {
      const FunctionName = nameOf('GroupHandler');
      const { RecursiveLoop } = await new LambdaClient().send(new GetFunctionRecursionConfigCommand({ FunctionName }));
      return RecursiveLoop === 'Allow' ? 'on' : 'ignored';
    },
    answers: { ministack: 'ignored', aws: 'on' },
  },
  {
    what: 'the path of a request as the API receives it',
    ask: async ({ api }) => ((await (await api('/batches/a%252Fb')).text()).includes('a%2Fb') ? 'as sent' : 'decoded'),
    answers: { ministack: 'decoded', aws: 'as sent' },
  },
  {
    // test/deployment/rights.test.ts uses an HTTP API, for which the emulator passes the caller on.
    what: 'the caller of a request through a function URL',
    ask: async ({ api }) => {
      await api('/tasks/unknown', { method: 'DELETE' });
      const { entries } = (await (await api('/audit?limit=1')).json()) as { entries: { actor: { id: string } }[] };
      return entries[0]?.actor.id === 'unknown' ? 'unknown' : 'as signed';
    },
    answers: { ministack: 'unknown', aws: 'as signed' },
  },
];

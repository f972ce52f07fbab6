/** Which runs are found, and in which order their stacks are removed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { afterEach, expect, it, vi } from 'vitest';
import { UNTIL_TAG } from '../../tools/verify-aws/deployed/load-stack.ts';
import { removeRun, runsIn } from '../../tools/verify-aws/removal.ts';

const UNTIL = '2026-11-27T05:00:00.000Z';
const stops: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const stop of stops.splice(0)) stop();
});

/**
 * An account with these stacks and tables.
 * @param refuses a table that cannot be removed
 */
const accountOf = async (stacks: Record<string, string | undefined>, tables: readonly string[] = [], refuses = '') => {
  const removed: string[] = [];
  const describe = (name: string, until: string | undefined): string =>
    `<member><StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus>${until === undefined ? '' : `<Tags><member><Key>${UNTIL_TAG}</Key><Value>${until}</Value></member></Tags>`}</member>`;
  const ofCloudFormation = (form: URLSearchParams): string | undefined => {
    const name = form.get('StackName');
    if (form.get('Action') === 'DeleteStack' && name !== null) {
      removed.push(name);
      delete stacks[name];
      return '<DeleteStackResponse/>';
    }
    const found = Object.entries(stacks).filter(([each]) => name === null || each === name);
    if (name !== null && found.length === 0) return undefined;
    return `<DescribeStacksResponse><DescribeStacksResult><Stacks>${found.map(([each, until]) => describe(each, until)).join('')}</Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  };
  const ofJson = (operation: string, body: { TableName?: string }): { status: number; body: object } => {
    if (operation === 'ListTables') return { status: 200, body: { TableNames: tables } };
    if (operation !== 'DeleteTable') return { status: 200, body: {} };
    if (body.TableName === refuses)
      return { status: 400, body: { __type: 'ResourceInUseException', message: 'in use' } };
    removed.push(String(body.TableName));
    return { status: 200, body: {} };
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const operation = String(request.headers['x-amz-target'] ?? '')
      .split('.')
      .at(-1);
    if (operation) {
      const { status, body } = ofJson(operation, JSON.parse(text));
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
      return;
    }
    const answer = ofCloudFormation(new URLSearchParams(text));
    if (answer !== undefined) response.writeHead(200, { 'content-type': 'text/xml' }).end(answer);
    else
      response
        .writeHead(400, { 'content-type': 'text/xml' })
        .end(
          '<ErrorResponse><Error><Code>ValidationError</Code><Message>does not exist</Message></Error></ErrorResponse>',
        );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  const region = 'eu-central-1';
  return { account: { region, cloudFormation: new CloudFormationClient({ region }) }, removed };
};

it('a stage of a user is no run, even if its name begins like that of a run', async () => {
  const { account } = await accountOf({
    'Groupage-verify-abc123-Load': UNTIL,
    'Groupage-verify-abc123-Flow': UNTIL,
    'Groupage-verify-prod-Flow': undefined,
    'Groupage-suite-test-prod-Flow': undefined,
  });
  expect(await runsIn(account)).toEqual([{ id: 'abc123', until: UNTIL }]);
});

it('a run is found again until everything of it is removed', async () => {
  const stacks = {
    'Groupage-verify-abc123-Load': UNTIL,
    'Groupage-verify-abc123-Flow': UNTIL,
    'Groupage-suite-test-abc123-Data': undefined,
  };
  const table = 'Groupage-suite-test-abc123-Flow-5f-task';
  const { signal } = new AbortController();
  const held = await accountOf({ ...stacks }, [table, 'orders'], table);
  expect(await removeRun(held.account, 'abc123', signal)).toEqual([
    expect.stringMatching(`the table ${table}: .*in use`),
    'the stack Groupage-verify-abc123-Load: it is removed last',
  ]);
  expect(await runsIn(held.account)).toEqual([{ id: 'abc123', until: UNTIL }]);
  const { account, removed } = await accountOf({ ...stacks }, [table, 'orders']);
  expect(await removeRun(account, 'abc123', signal)).toEqual([]);
  expect(removed).toEqual([
    'Groupage-verify-abc123-Flow',
    'Groupage-suite-test-abc123-Data',
    table,
    'Groupage-verify-abc123-Load',
  ]);
}, 60_000);

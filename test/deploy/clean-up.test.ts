/** The clean-up after a failed deployment, against a server in place of CloudFormation. */
import { afterEach, expect, it, vi } from 'vitest';
import { type Account, openAccount } from '../../tools/account/stacks.ts';
import { causesIn } from '../../tools/deploy/causes.ts';
import { cleanUp } from '../../tools/deploy/clean-up.ts';
import { cloudFormation, type FakeStack, type Served } from '../cli/aws.ts';

const FAILED = {
  stage: 'dev',
  creates: ['Groupage-dev-Data', 'Groupage-dev-Flow'],
  changeSet: 'groupage-1',
  interrupted: false,
  from: 0,
};

let aws: Served | undefined;
afterEach(() => {
  aws?.close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const accountWith = async (
  stacks: Record<string, FakeStack>,
  refusal?: readonly [string, string],
): Promise<Account> => {
  aws = await cloudFormation(stacks, () => refusal);
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: aws.url,
    AWS_REGION: 'eu-test-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }))
    vi.stubEnv(name, value);
  return openAccount(process.env);
};

const madeBy = (run: string, status: string): FakeStack => ({
  status,
  outputs: {},
  changeSetId: `arn:aws:cloudformation:eu-test-1:1:changeSet/${run}/123`,
});

it('the clean-up says what remains to do if it cannot read the stacks', async () => {
  for (const [code, words] of [
    ['ExpiredToken', /credentials have expired/],
    ['SomethingNew', /could not be read or removed: cannot read the stack/],
  ] as const) {
    const account = await accountWith({}, [code, 'says AWS']);
    const said = await cleanUp(account, FAILED);
    expect(said).toMatch(words);
    expect(said).toContain('The deployment failed. The remaining stacks could not be read or removed');
    expect(said).toContain('npm run destroy -- --stage dev');
    aws?.close();
  }
});

it('the clean-up keeps and names stacks of another deployment', async () => {
  const account = await accountWith({ 'Groupage-dev-Data': madeBy('groupage-2', 'CREATE_IN_PROGRESS') });
  expect(await cleanUp(account, FAILED)).toContain(
    'Groupage-dev-Data (CREATE_IN_PROGRESS) was created by another deployment and stays',
  );
});

it('the clean-up waits for its stacks, and a second Ctrl-C ends the wait', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const account = await accountWith({ 'Groupage-dev-Data': madeBy('groupage-1', 'CREATE_IN_PROGRESS') });
  const said = cleanUp(account, { ...FAILED, interrupted: true });
  await vi.waitFor(() =>
    expect(print).toHaveBeenCalledWith(expect.stringContaining('Groupage-dev-Data (CREATE_IN_PROGRESS)')),
  );
  process.emit('SIGINT');
  expect(await said).toMatch(
    /interrupted\. These stacks remain: Groupage-dev-Data \(CREATE_IN_PROGRESS\).*npm run destroy/,
  );
});

it('an unreadable cause of a failure does not stop the clean-up', async () => {
  const account = await accountWith({}, ['SomethingNew', 'says AWS']);
  expect(await causesIn(account, 'arn:1', 0)).toEqual([expect.stringContaining('the cause could not be read')]);
  // Not an answer of AWS.
  const broken = { ...account, cloudFormation: undefined } as unknown as Account;
  expect(await causesIn(broken, 'arn:1', 0)).toEqual([expect.stringContaining('the cause could not be read')]);
});

/** Secrets of SSM and Secrets Manager, from a real server that speaks their protocols. */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { awsSecrets } from '../../src/aws/secrets.ts';
import type { Place } from '../../src/domain/config/endpoints.ts';
import type { Secrets } from '../../src/domain/downstream/secret.ts';
import { type AwsService, awsError, regionOf, startAwsService } from '../factories/aws-service.ts';
import { NOW } from '../factories/factories.ts';

const KEY = { ssm: '/groupage/signing' };
const NAMED = { secretsManager: 'groupage/signing' };
const ARN = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret';

let service: AwsService;
let secrets: Secrets;
let now = NOW;

beforeEach(async () => {
  service = await startAwsService(({ operation }) =>
    operation === 'AmazonSSM.GetParameter'
      ? { body: { Parameter: { Value: `parameter ${service.requests.length}` } } }
      : { body: { SecretString: `secret ${service.requests.length}` } },
  );
  const options = { ...service.options, maxAttempts: 1 };
  now = NOW;
  secrets = awsSecrets(
    { ssm: new SSMClient(options), secretsManager: () => new SecretsManagerClient(options) },
    () => now,
  );
});
afterEach(() => service.stop());

describe('a secret', () => {
  it('is a decrypted parameter of SSM, or a secret of Secrets Manager', async () => {
    expect(await secrets.read(KEY)).toBe('parameter 1');
    expect(await secrets.read(NAMED)).toBe('secret 2');
    expect(service.requests.map(({ operation, body }) => [operation, JSON.parse(body)])).toEqual([
      ['AmazonSSM.GetParameter', { Name: '/groupage/signing', WithDecryption: true }],
      ['secretsmanager.GetSecretValue', { SecretId: 'groupage/signing' }],
    ]);
  });

  it('is read in the region of its ARN', async () => {
    const opened: Place[] = [];
    const options = { ...service.options, maxAttempts: 1 };
    const secretsManager = (place: Place) => {
      opened.push(place);
      return new SecretsManagerClient({ ...options, ...place });
    };
    const { read } = awsSecrets({ ssm: new SSMClient(options), secretsManager }, () => now);
    await read({ secretsManager: `${ARN}:signing-AbCdEf` });
    await read({ secretsManager: `${ARN}:token-AbCdEf` });
    await read(NAMED);
    expect(service.requests.map(({ headers, body }) => [regionOf(headers), JSON.parse(body).SecretId])).toEqual([
      ['eu-west-1', `${ARN}:signing-AbCdEf`],
      ['eu-west-1', `${ARN}:token-AbCdEf`],
      ['us-east-1', 'groupage/signing'],
    ]);
    expect(opened).toEqual([{ region: 'eu-west-1' }, {}]);
  });

  it('is read once for concurrent calls, and again after five minutes', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, () => secrets.read(KEY)))).toEqual(
      Array.from({ length: 20 }, () => 'parameter 1'),
    );
    now = NOW + 299_999;
    expect(await secrets.read(KEY)).toBe('parameter 1');
    now = NOW + 300_000;
    expect(await secrets.read(KEY)).toBe('parameter 2');
    expect(await secrets.read({ ssm: '/groupage/other' })).toBe('parameter 3');
  });

  it.each([
    ['that is not there', awsError(400, 'ParameterNotFound'), /create it, or correct its name/],
    [
      'that may not be read',
      awsError(400, 'AccessDeniedException'),
      /no permission to read the secret \(AccessDeniedException\)/,
    ],
    ['whose service is busy', awsError(400, 'ThrottlingException'), /reading it failed \(ThrottlingException\)$/],
    ['without text', { body: { Parameter: { Value: '' } } }, /contains no text/],
  ])('%s is named with what to do, and read again', async (_, reply, reason) => {
    const working = service.requests;
    service.behave(() => reply);
    const failure = await secrets.read(KEY).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ name: 'SecretUnreadable', ref: KEY, message: expect.stringMatching(reason) });
    expect(String(failure)).toContain('the parameter /groupage/signing of SSM');
    service.behave(() => ({ body: { Parameter: { Value: 'there now' } } }));
    expect(await secrets.read(KEY)).toBe('there now');
    expect(working).toHaveLength(2);
  });

  it("is not in the error, even if the service's error contains it", async () => {
    service.behave(() => awsError(400, 'DecryptionFailure', 'the text is hunter2'));
    const failure = await secrets.read(NAMED).catch((cause: unknown) => cause);
    expect(String(failure)).toContain('the secret groupage/signing of Secrets Manager');
    expect(String(failure)).not.toContain('hunter2');
  });
});

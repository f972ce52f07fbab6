import { expect, it } from 'vitest';
import { inWords } from '../../tools/account/failures.ts';
import { CommandFailure } from '../../tools/failure.ts';

const failing = (error: object) => inWords('look', 'eu-test-1', () => Promise.reject(error));

it('every error of AWS or the network becomes a message', async () => {
  for (const [fields, words] of [
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, /NODE_EXTRA_CA_CERTS/],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, /NODE_EXTRA_CA_CERTS/],
    [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, /NODE_EXTRA_CA_CERTS/],
    [{ name: 'ServiceUnavailable', $metadata: {} }, /Run the command again in a minute/],
    [{ name: 'OptInRequired', $metadata: {} }, /Enable it/],
    [{ name: 'ValidationError', $metadata: {} }, /^cannot look \(why\)$/],
    [{ code: 'EWHATEVER' }, /^cannot look \(why\)$/],
  ] as const) {
    const failure = failing(Object.assign(new Error('why'), fields));
    await expect(failure).rejects.toBeInstanceOf(CommandFailure);
    await expect(failure).rejects.toThrow(words);
  }
});

it('a programming error keeps its stack trace', async () => {
  await expect(failing(new TypeError('x is not a function'))).rejects.toBeInstanceOf(TypeError);
});

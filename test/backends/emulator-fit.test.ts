import { expect, it } from 'vitest';
import { emulatorStatements } from './emulator-fit.ts';

it("the emulator's action names are added for the AWS names of a role, and no others", () => {
  const Resource = 'arn:aws:sqs:us-east-1:000000000000:elect';
  expect(
    emulatorStatements([{ Effect: 'Allow', Action: ['sqs:ReceiveMessage', 'sqs:SendMessage'], Resource }]),
  ).toEqual([{ Effect: 'Allow', Action: 'sqs:SendMessageBatch', Resource }]);
  expect(emulatorStatements([{ Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource }])).toEqual(
    [],
  );
  expect(emulatorStatements([{ Effect: 'Allow', Action: 'dynamodb:PartiQLUpdate', Resource }])).toMatchObject([
    { Action: 'dynamodb:BatchExecuteStatement' },
  ]);
});

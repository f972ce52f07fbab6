import { describe, expect, it } from 'vitest';
import { WrongUsage } from '../../tools/failure.ts';
import { optionsOf } from '../../tools/verify-aws/options.ts';

describe('the options of verify:aws', () => {
  it('refuse an unknown way to the API', () => {
    expect(() => optionsOf(['--api', 'rest'])).toThrow('the API is function-url, http-api, or ids of VPC endpoints');
  });

  it('are 100,000 tasks and then 50 a second for an hour by default', () => {
    expect(optionsOf(['--region', 'eu-central-1'])).toEqual({
      region: 'eu-central-1',
      burst: 100_000,
      rate: 50,
      duration: 3_600_000,
      targets: 20,
      budget: 10,
      suite: true,
      api: undefined,
      page: 'verify-aws.html',
      yes: false,
      removeOnly: false,
    });
  });

  it.each([
    [['--burst', '-1'], '--burst'],
    [['--burst', 'many'], '--burst takes a whole number from 0 to 1,000,000, not "many"'],
    [['--rate', '5'], '--rate takes a rate such as 100/s, 6000/min or 5/h, not "5"'],
    [['--duration', '1'], '--duration takes a duration'],
    [['--rate', '1/h', '--duration', '25h'], '--duration takes at most 1d, not "25h"'],
    [['--rate', '0/s', '--duration', '999999999999d'], '--duration takes at most 1d'],
    [['--budget', '0'], '--budget takes an amount of US dollars above 0, such as 10, not "0"'],
    [['--rate', '2000/s', '--duration', '1h'], 'make 7,300,000 tasks, more than 1,000,000'],
    [['--burst', '0', '--rate', '0/s'], 'make no task'],
    [['--no-tests'], "Unknown option '--no-tests'"],
    [['eu-central-1'], "Unexpected argument 'eu-central-1'"],
  ])('%j are refused with the reason and the usage', (args, reason) => {
    expect(() => optionsOf(args)).toThrow(WrongUsage);
    expect(() => optionsOf(args)).toThrow(reason);
    expect(() => optionsOf(args)).toThrow('npm run verify:aws -- --region REGION');
  });
});

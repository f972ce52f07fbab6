/** What cfn-lint may find in our templates, each with the reason. Everything else has to be corrected. */

/** A finding of cfn-lint. */
export interface Finding {
  /** Such as `E3006`. */
  readonly rule: string;
  readonly message: string;
  /** The path in the template, such as `Resources/Key/Properties`. */
  readonly at: string;
}

export interface Accepted {
  readonly finding: (finding: Finding) => boolean;
  readonly reason: string;
}

/** Regions in which CloudFormation does not know function URLs. */
export const WITHOUT_FUNCTION_URLS: readonly string[] = [
  'ap-east-2',
  'ap-south-2',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
  'ca-west-1',
  'cn-northwest-1',
  'eu-central-2',
  'il-central-1',
  'me-central-1',
  'mx-central-1',
  'us-gov-east-1',
  'us-gov-west-1',
];

const ofRule =
  (rule: string, at = /./) =>
  (finding: Finding): boolean =>
    finding.rule === rule && at.test(finding.at);

export const ACCEPTED: readonly Accepted[] = [
  ...WITHOUT_FUNCTION_URLS.map((region) => ({
    finding: ({ message }: Finding) => message === `Resource type 'AWS::Lambda::Url' does not exist in '${region}'`,
    reason: `${region} has no function URLs`,
  })),
  { finding: ofRule('I1022'), reason: 'CDK renders joined text with Fn::Join' },
  {
    finding: ofRule('W3005', /^Resources\/(?:\w+HandlerFunction|Downstream|Relay)\w+\/DependsOn\//),
    reason: 'CDK lets a function wait for its role and the policy of that role; the reference to the role is implied',
  },
  { finding: ofRule('I3013', /^Resources\/(?:Ops|To)[0-9A-F]{8}\//), reason: "a queue of the user's app in a test" },
  { finding: ofRule('W2001', /^Parameters\/Host$/), reason: 'an instance without alarms uses no runbook' },
];

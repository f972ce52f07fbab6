/** The functions in somebody's own network. */
import { type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

export interface NetworkProps {
  /**
   * Where the functions run, all of them. They reach DynamoDB, SQS and whatever the configuration names through it: by
   * endpoints of the VPC, or a NAT gateway.
   * @default - no VPC: they reach the internet, and nothing private
   */
  readonly vpc?: IVpc;
  /**
   * In which of its subnets.
   * @default - private subnets with a way out, otherwise isolated ones, one in each zone
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * What the functions' connections are judged by.
   * @default - one for all functions, that lets nothing in and everything out
   */
  readonly securityGroups?: readonly ISecurityGroup[];
}

/** Of one instance: the functions share it, and with it their network interfaces. */
export interface Network {
  readonly vpc: IVpc;
  readonly vpcSubnets?: SubnetSelection;
  readonly securityGroups: ISecurityGroup[];
}

/** @throws InvalidProps */
export const networkOf = (scope: Construct, { vpc, vpcSubnets, securityGroups }: NetworkProps): Network | undefined => {
  if (vpc === undefined) {
    const given = Object.entries({ vpcSubnets, securityGroups }).flatMap(([name, each]) => (each ? [name] : []));
    if (given.length > 0)
      throw new InvalidProps(scope, `${given.join(' and ')} without vpc: name it, or leave them out`);
    return undefined;
  }
  if (securityGroups?.length === 0)
    throw new InvalidProps(scope, 'securityGroups must have one at least: leave it out, and one is made');
  const groups = securityGroups ?? [
    new SecurityGroup(scope, 'SecurityGroup', {
      vpc,
      description: 'Functions of Groupage: nothing in, everything out',
    }),
  ];
  return { vpc, securityGroups: [...groups], ...(vpcSubnets ? { vpcSubnets } : {}) };
};

/**
 * What Lambda needs to keep network interfaces in a role's name: it knows none of their ids before, and asks about all of them.
 * Lambda alone: requests of a function's own code carry the function's ARN, and are not allowed.
 */
export const networkInterfaces = (): PolicyStatement =>
  new PolicyStatement({
    actions: [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'true' } },
  });

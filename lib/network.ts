/** Runs the functions in the customer's network. */
import { type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { InvalidProps } from './invalid-props.ts';

export interface NetworkProps {
  /**
   * The VPC in which all functions run. From this VPC they must reach DynamoDB, SQS and the resources that the
   * configuration names, through VPC endpoints or a NAT gateway.
   * @default - no VPC: the functions reach the internet but no private addresses
   */
  readonly vpc?: IVpc;
  /**
   * The subnets for the functions.
   * @default - private subnets with internet access, otherwise isolated ones, one in each zone
   */
  readonly vpcSubnets?: SubnetSelection;
  /**
   * Security groups of the functions.
   * @default - one for all functions, which allows no incoming and all outgoing connections
   */
  readonly securityGroups?: readonly ISecurityGroup[];
}

/** The network of one instance. All functions share it and its network interfaces. */
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
      throw new InvalidProps(scope, `${given.join(' and ')} without vpc: set vpc too, or omit them`);
    return undefined;
  }
  if (securityGroups?.length === 0)
    throw new InvalidProps(scope, 'securityGroups must have at least one element: omit it, and one group is created');
  const groups = securityGroups ?? [
    new SecurityGroup(scope, 'SecurityGroup', {
      vpc,
      description: 'Functions of Groupage: nothing in, everything out',
    }),
  ];
  return { vpc, securityGroups: [...groups], ...(vpcSubnets ? { vpcSubnets } : {}) };
};

/**
 * The rights that Lambda needs to manage network interfaces in a role's name. The rights cover all interfaces, because
 * their ids are not known before and Lambda describes all of them. Only Lambda itself can use these rights: requests by
 * a function's own code contain the function's ARN and are denied.
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

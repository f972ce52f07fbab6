/** What every table has, whatever its keys. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, type TableProps } from 'aws-cdk-lib/aws-dynamodb';

export const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
export const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

/**
 * No `encryption`: DynamoDB encrypts every table anyway, with a key that AWS owns, at no cost, and nobody can switch that
 * off. KMS would add requests to pay for and to be throttled by; it can be chosen later without a new table.
 *
 * @param retain whether the table outlives its stack, protected from deletion
 */
export const sharedTableProps = (retain: boolean): Omit<TableProps, 'partitionKey'> => ({
  billingMode: BillingMode.PAY_PER_REQUEST,
  pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  timeToLiveAttribute: 'ExpiresAt',
  deletionProtection: retain,
  removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
});

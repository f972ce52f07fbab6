/** The properties that all tables share. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, TableEncryption, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { checkKey } from './encryption.ts';
import { type DataProps, isKept } from './surroundings.ts';

export const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
export const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

/**
 * Without a key, `encryption` is not set: DynamoDB then encrypts the table with a key that AWS owns, at no cost. This
 * cannot be disabled. A customer's key can be added and removed without replacing the table.
 *
 * @throws InvalidProps
 */
export const sharedTableProps = (
  scope: IConstruct,
  { encryptionKey, removalPolicy }: Pick<DataProps, 'encryptionKey' | 'removalPolicy'>,
): Omit<TableProps, 'partitionKey'> => {
  checkKey(scope, encryptionKey);
  const kept = isKept(scope, removalPolicy);
  return {
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveAttribute: 'ExpiresAt',
    deletionProtection: kept,
    removalPolicy: kept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...(encryptionKey ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey } : {}),
  };
};

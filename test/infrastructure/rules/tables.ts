/** What every table promises. */
import { differing, ofType, type Rule, type Template } from './template.ts';

const tablesOf = (template: Template) => ofType(template, 'AWS::DynamoDB::Table');

/** Replicas and exports are other features' business: a table of another kind is not one these rules have looked at. */
export const tablesAreOfOneKind: Rule = (template) =>
  ofType(template, 'AWS::DynamoDB::GlobalTable').map(([id]) => `${id}: is a global table, which no rule covers`);

export const tablesCanBeRestored: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) =>
    differing(id, properties, { 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled': true }),
  );

/**
 * Every table is encrypted with a key that AWS owns: DynamoDB's default, which costs nothing and which nobody can switch
 * off. `SSEEnabled: false` means the same and reads as the opposite, KMS is paid for by the request: so neither is set.
 */
export const tablesUseTheKeyThatAwsOwns: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) => differing(id, properties, { SSESpecification: undefined }));

export const tablesArePaidByRequest: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) =>
    differing(id, properties, { BillingMode: 'PAY_PER_REQUEST', ProvisionedThroughput: undefined }),
  );

/** @param attribute what the stores write a row's end into. */
export const rowsExpireBy =
  (attribute: string): Rule =>
  (template) =>
    tablesOf(template).flatMap(([id, properties]) =>
      differing(id, properties, { TimeToLiveSpecification: { AttributeName: attribute, Enabled: true } }),
    );

/** Where data is kept, neither removing the stack nor replacing the table deletes it; elsewhere nothing is left over. */
export const tablesOutliveTheirStack =
  (kept: boolean): Rule =>
  (template) =>
    tablesOf(template).flatMap(([id, properties]) => [
      ...differing(id, template.Resources[id] ?? {}, {
        DeletionPolicy: kept ? 'Retain' : 'Delete',
        UpdateReplacePolicy: kept ? 'Retain' : 'Delete',
      }),
      ...differing(id, properties, { DeletionProtectionEnabled: kept }),
    ]);

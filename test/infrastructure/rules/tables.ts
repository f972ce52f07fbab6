/** Rules that hold for every table. */
import { functionsOf, statementsOfRole } from './flow.ts';
import { differing, idOf, listOf, ofType, type Rule, type Template } from './template.ts';

const tablesOf = (template: Template) => ofType(template, 'AWS::DynamoDB::Table');

/** The rules do not cover global tables. */
export const tablesAreOfOneKind: Rule = (template) =>
  ofType(template, 'AWS::DynamoDB::GlobalTable').map(([id]) => `${id}: is a global table, which no rule covers`);

export const tablesCanBeRestored: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) =>
    differing(id, properties, { 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled': true }),
  );

/**
 * Every table is encrypted with the key that AWS owns: the default, which is free and cannot be switched off.
 * `SSEEnabled: false` means the same but reads like the opposite, and KMS costs per request, so the property stays
 * unset.
 */
export const tablesUseTheKeyThatAwsOwns: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) => differing(id, properties, { SSESpecification: undefined }));

export const tablesArePaidByRequest: Rule = (template) =>
  tablesOf(template).flatMap(([id, properties]) =>
    differing(id, properties, { BillingMode: 'PAY_PER_REQUEST', ProvisionedThroughput: undefined }),
  );

/** @param attribute the attribute into which the stores write a row's expiry. */
export const rowsExpireBy =
  (attribute: string): Rule =>
  (template) =>
    tablesOf(template).flatMap(([id, properties]) =>
      differing(id, properties, { TimeToLiveSpecification: { AttributeName: attribute, Enabled: true } }),
    );

/** Only the API's function adds and completes entries of the audit trail. No function deletes them. */
export const entriesStay: Rule = (template) =>
  functionsOf(template).flatMap(([id, { Role }]) => {
    const actions = statementsOfRole(template, idOf(Role))
      .filter(({ Resource }) => listOf(Resource).some((each) => /TablesAudit/.test(JSON.stringify(each))))
      .flatMap(({ Action }) => listOf(Action));
    const expected = id.includes('ApiHandler') ? ['PutItem', 'Query', 'UpdateItem'] : [];
    return actions.toSorted().join() === expected.map((action) => `dynamodb:${action}`).join()
      ? []
      : [`${id}: may ${actions} in the audit trail`];
  });

/** In a kept stack, neither removing the stack nor replacing a table deletes data. In other stacks nothing remains. */
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

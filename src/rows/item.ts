/** A row as the document client gives it. */
import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

export type Item = Record<string, NativeAttributeValue>;

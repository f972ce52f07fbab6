/** The ports of the local stack. */

/** The first port, unless the user chooses another. The API uses it; DynamoDB and SQS use the next two. */
export const DEFAULT_PORT = 4_500;

/** The highest first port. */
export const HIGHEST_PORT = 65_533;

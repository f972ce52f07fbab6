/** Names of a stack's outputs: written in `lib`, read by the command line. Of further instances they begin with theirs. */
export const API_URL = 'ApiUrl';
export const REGISTER_QUEUE_URL = 'RegisterQueueUrl';
export const REJECTED_QUEUE_URL = 'RejectedQueueUrl';
/** What metrics are of, where that is not the stack. */
export const SERVICE = 'ServiceName';

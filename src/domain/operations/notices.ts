/** What an operation's notices mean, for users of the console, the command line and the local log. */

export const WITHOUT_RESULTS =
  'its downstream answers without results, so each task counts as succeeded. Set downstream.requireResults to true if that is wrong, or to false if it is right';

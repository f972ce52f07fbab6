/** The functions, named after the files of their entries. */
export const HANDLERS = ['register', 'elect-leader', 'group', 'batch-handler', 'callback', 'sweep', 'api'] as const;

export type HandlerName = (typeof HANDLERS)[number];

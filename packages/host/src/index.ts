/** A host of the Model Context Protocol: many servers, consent, sampling, context and the model loop. */
export type * from "./host.ts";
export type * from "./options.ts";

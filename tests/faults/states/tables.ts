import { answerStates, standaloneStates } from "./stream.ts";
import { subscriptionStates } from "./subscription.ts";
import type { StateTable } from "./table.ts";

/** The state machines of the client, in the order of the documentation. */
export const tables: readonly StateTable[] = [subscriptionStates, answerStates, standaloneStates];

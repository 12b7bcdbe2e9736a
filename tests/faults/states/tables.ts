import { cache } from "./cache.ts";
import { connectionTable } from "./connection.ts";
import { inputRequest } from "./input-request.ts";
import { list } from "./list.ts";
import { retryTable } from "./retry.ts";
import { revisionTable } from "./revision.ts";
import { answerStates, standaloneStates } from "./stream.ts";
import { subscriptionStates } from "./subscription.ts";
import type { StateTable } from "./table.ts";
import { task } from "./task.ts";

/** The state machines of the client, in the order of the documentation. */
export const tables: readonly StateTable[] = [
  connectionTable,
  revisionTable,
  retryTable,
  list,
  cache,
  inputRequest,
  subscriptionStates,
  answerStates,
  standaloneStates,
  task,
];

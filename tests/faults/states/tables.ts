import { retryTable } from "./retry.ts";
import type { StateTable } from "./table.ts";

/** The state machines of the client, in the order of the documentation. */
export const tables: readonly StateTable[] = [retryTable];

import type { StateTable } from "./table.ts";
import { task } from "./task.ts";

/** The state machines of the client, in the order of the documentation. */
export const tables: readonly StateTable[] = [task];

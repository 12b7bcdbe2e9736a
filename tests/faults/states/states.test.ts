import { testStates } from "./table.ts";
import { tables } from "./tables.ts";

for (const table of tables) testStates(table);

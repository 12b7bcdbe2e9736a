import { revision as newer } from "./2024-11-05.ts";
import type { Revision } from "./revision.ts";

/** The pre-release. It differs from the first release only in its name. */
export const revision: Revision = { ...newer, version: "2024-10-07" };

export { encoder } from "./2024-11-05.ts";

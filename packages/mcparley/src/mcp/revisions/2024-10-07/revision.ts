import { revision as newer } from "../2024-11-05/revision.ts";
import type { Revision } from "../revision.ts";

/** The pre-release: clients of it are answered in its name and served as those of the first release. */
export const revision: Revision = { ...newer, version: "2024-10-07" };

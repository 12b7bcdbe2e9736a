import { revision as newer } from "../2025-03-26/revision.ts";
import type { Revision } from "../revision.ts";

export const revision: Revision = {
  ...newer,
  version: "2024-11-05",
  resumable: false,
  completionsCapability: false,
};

import { Method } from "../../methods.ts";
import { revision as newer } from "../2025-06-18/revision.ts";
import type { Revision } from "../revision.ts";

export const revision: Revision = {
  ...newer,
  version: "2025-03-26",
  serverRequests: new Set([Method.ping, Method.createMessage, Method.listRoots]),
  batches: true,
  versionHeader: false,
};

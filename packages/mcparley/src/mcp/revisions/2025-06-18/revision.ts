import { ErrorCode } from "../../../rpc/errors.ts";
import { Notification } from "../../methods.ts";
import { revision as newer } from "../2025-11-25/revision.ts";
import type { Revision } from "../revision.ts";

export const revision: Revision = {
  ...newer,
  version: "2025-06-18",
  serverNotifications: new Set(
    [...newer.serverNotifications].filter((name) => name !== Notification.elicitationComplete),
  ),
  errorCodes: new Set([ErrorCode.ResourceNotFound]),
  polls: false,
  requestedTasks: false,
  contextCapability: false,
};

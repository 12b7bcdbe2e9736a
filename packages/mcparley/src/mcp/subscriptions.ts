import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/** The changes that a client subscribes to. Omitted ones are not sent. */
export interface SubscriptionFilter {
  /** Receive `notifications/tools/list_changed`. Default: false. */
  toolsListChanged?: boolean;
  /** Receive `notifications/prompts/list_changed`. Default: false. */
  promptsListChanged?: boolean;
  /** Receive `notifications/resources/list_changed`. Default: false. */
  resourcesListChanged?: boolean;
  /** The URIs of resources to receive updates of. */
  resourceSubscriptions?: string[];
}

/** Validates the params of `subscriptions/listen`. Unknown members are ignored. */
export function readSubscriptionFilter(params: JsonObject): SubscriptionFilter {
  const notifications = params.notifications;
  if (!isObject(notifications)) throw invalidParams("params.notifications must be an object");
  const filter: SubscriptionFilter = {};
  for (const key of ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const) {
    const value = notifications[key];
    if (value !== undefined && typeof value !== "boolean")
      throw invalidParams(`params.notifications.${key} must be a boolean`);
    if (value) filter[key] = true;
  }
  const uris = notifications.resourceSubscriptions;
  if (uris === undefined) return filter;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string" && uri.isWellFormed())) {
    const rule = "must be an array of strings without half of a surrogate pair";
    throw invalidParams(`params.notifications.resourceSubscriptions ${rule}`);
  }
  return { ...filter, resourceSubscriptions: uris };
}

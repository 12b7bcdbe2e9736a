import type { Requirement } from "../requirement.ts";
import { messages } from "./messages.ts";
import { lifecycle } from "./lifecycle.ts";
import { versioning } from "./versioning.ts";
import { transportsStdio } from "./transports-stdio.ts";
import { transportsHttp } from "./transports-http.ts";
import { transportsHttpStreams } from "./transports-http-streams.ts";
import { transportsHttpModern } from "./transports-http-modern.ts";
import { mirroredHeaders } from "./mirrored-headers.ts";
import { transportsHttpSse } from "./transports-http-sse.ts";
import { authorizationClient } from "./authorization-client.ts";
import { cancellation } from "./cancellation.ts";
import { progress } from "./progress.ts";
import { ping } from "./ping.ts";
import { subscriptions } from "./subscriptions.ts";
import { mrtr } from "./mrtr.ts";
import { caching } from "./caching.ts";
import { pagination } from "./pagination.ts";
import { tools } from "./tools.ts";
import { toolHeaders } from "./tool-headers.ts";
import { toolCalls } from "./tool-calls.ts";
import { toolSecurity } from "./tool-security.ts";
import { prompts } from "./prompts.ts";
import { resources } from "./resources.ts";
import { completion } from "./completion.ts";
import { logging } from "./logging.ts";
import { roots } from "./roots.ts";
import { sampling } from "./sampling.ts";
import { elicitation } from "./elicitation.ts";
import { extensions } from "./extensions.ts";
import { jsonSchema } from "./json-schema.ts";
import { meta } from "./meta.ts";
import { icons } from "./icons.ts";
import { authorizationExtensions } from "./authorization-extensions.ts";
import { authorizationServing } from "./authorization-serving.ts";
import { security } from "./security.ts";
import { tasks } from "./tasks.ts";
import { requestedTasks } from "./requested-tasks.ts";

/** Every requirement, area by area. */
export const requirements: readonly Requirement[] = [
  ...messages,
  ...lifecycle,
  ...versioning,
  ...transportsStdio,
  ...transportsHttp,
  ...transportsHttpStreams,
  ...transportsHttpModern,
  ...mirroredHeaders,
  ...transportsHttpSse,
  ...authorizationClient,
  ...authorizationExtensions,
  ...cancellation,
  ...progress,
  ...ping,
  ...subscriptions,
  ...mrtr,
  ...caching,
  ...pagination,
  ...tools,
  ...toolHeaders,
  ...toolCalls,
  ...toolSecurity,
  ...prompts,
  ...resources,
  ...completion,
  ...logging,
  ...roots,
  ...sampling,
  ...elicitation,
  ...extensions,
  ...jsonSchema,
  ...meta,
  ...icons,
  ...authorizationServing,
  ...security,
  ...tasks,
  ...requestedTasks,
];

export const byId: ReadonlyMap<string, Requirement> = new Map(requirements.map((one) => [one.id, one]));

import type { HttpRequestHead } from "../exchange.ts";
import { HttpRefusal } from "./refusal.ts";

/** The content types that a client accepts: `application/json` and `text/event-stream`. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

const everything: Accepted = { json: true, events: true };

let lastHeader: string | undefined;
let lastAccepted: Accepted = everything;

/** Reads an `Accept` header. Accepts a missing header and wildcards, because many clients send nothing else. */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined) return everything;
  // Clients send the same header with each request.
  if (header === lastHeader) return lastAccepted;
  lastHeader = header;
  lastAccepted = parseAccept(header);
  return lastAccepted;
}

function parseAccept(header: string): Accepted {
  const types = new Set<string>();
  for (const range of header.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) types.add(type);
  }
  const any = types.has("*/*");
  return {
    json: any || types.has("application/json") || types.has("application/*"),
    events: any || types.has("text/event-stream") || types.has("text/*"),
  };
}

/** Throws a refusal of 406 if the client of a GET does not accept an event stream. */
export function requireEventStream(request: HttpRequestHead): void {
  if (readAccept(request.header("accept")).events) return;
  throw new HttpRefusal(406, "GET opens an event stream: send Accept: text/event-stream.");
}

import type { JsonObject, Transport } from "mcparley";
import type { InProcessServer } from "mcparley/client";

/** A request of the client. */
interface RawRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/** One connection of a hostile server. */
export interface RawConnection {
  /** Whether the connection uses a legacy revision. */
  readonly isLegacy: boolean;
  /** Id of the open `subscriptions/listen` of a modern connection. */
  readonly listening: string | number | undefined;
  /** Whether the client has closed the connection. */
  readonly isClosed: boolean;
  /** The ids of the requests that the client has cancelled. */
  readonly cancelled: ReadonlySet<unknown>;
  /** Sends a notification. */
  notify(this: void, method: string, params?: JsonObject): void;
  /** Sends the client a request. Resolves with its result or its error. */
  ask(this: void, method: string, params: JsonObject): Promise<JsonObject>;
}

/** Returns the result of a request, which is not checked. Undefined leaves the request without a response. */
export type RawAnswer = (request: RawRequest, connection: RawConnection) => unknown;

/** The newest legacy and modern revisions. */
const legacy = "2025-11-25";
const modern = "2026-07-28";

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
};

/** The description of a server, in the places of each revision. */
export interface RawDescription {
  readonly name: string;
  readonly info?: JsonObject;
  readonly instructions?: string;
}

/**
 * Returns a server that answers the handshakes of the newest modern and legacy revision, empty lists, and other requests with
 * `answer`. It sends what `answer` returns without a check, and can be connected any number of times.
 */
export function rawServer({ name, info, instructions }: RawDescription, answer: RawAnswer): InProcessServer {
  const serverInfo = { name, version: "1.0.0", ...info };
  const about = instructions === undefined ? { capabilities } : { capabilities, instructions };
  const fixed: Readonly<Record<string, JsonObject>> = {
    initialize: { protocolVersion: legacy, serverInfo, ...about },
    "server/discover": {
      supportedVersions: [modern],
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      ...about,
    },
    ping: {},
    "logging/setLevel": {},
    "resources/subscribe": {},
    "resources/unsubscribe": {},
  };
  const empty: Readonly<Record<string, JsonObject>> = {
    "tools/list": { tools: [] },
    "prompts/list": { prompts: [] },
    "resources/list": { resources: [] },
    "resources/templates/list": { resourceTemplates: [] },
  };
  const respond = async (request: RawRequest, connection: RawConnection): Promise<unknown> =>
    fixed[request.method] ?? (await answer(request, connection)) ?? empty[request.method];
  return {
    name,
    attach: (transport) => serve(transport, respond),
  };
}

type Respond = (request: RawRequest, connection: RawConnection) => Promise<unknown>;

async function serve(transport: Transport, respond: Respond): Promise<void> {
  let asked = 0;
  const waiting = new Map<unknown, (result: JsonObject) => void>();
  const cancelled = new Set<unknown>();
  const connection = {
    isLegacy: false,
    listening: undefined as string | number | undefined,
    isClosed: false,
    cancelled,
    notify: (method: string, params?: JsonObject): void => send({ method, ...(params && { params }) }),
    ask(method: string, params: JsonObject): Promise<JsonObject> {
      const id = `asked-${++asked}`;
      send({ id, method, params });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
  };
  // The messages of a hostile server are no messages, as far as the types are concerned.
  const send = (message: object): void => void transport.send({ jsonrpc: "2.0", ...message } as never);

  async function received({ id, method, params = {}, result, error }: Received): Promise<void> {
    if (method === undefined) waiting.get(id)?.(result ?? { error });
    else if (id === undefined) cancelled.add(params["requestId"]);
    else if (method === "subscriptions/listen") {
      connection.listening = id;
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      connection.notify("notifications/subscriptions/acknowledged", { notifications: params["notifications"], _meta });
    } else {
      connection.isLegacy ||= method === "initialize";
      const answered = await respond({ id, method, params }, connection);
      if (answered === undefined) return;
      const isObject = typeof answered === "object" && answered !== null && !connection.isLegacy;
      send({ id, result: isObject ? { resultType: "complete", ...answered } : answered });
    }
  }

  await transport.start({
    message: (value) => void received(value as Received),
    malformed() {},
    closed: () => (connection.isClosed = true),
  });
}

interface Received {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
}

/** Returns the definition of a tool without arguments. */
export function toolNamed(name: string): { name: string; description: string; inputSchema: { type: "object" } } {
  return { name, description: `The tool ${name}.`, inputSchema: { type: "object" } };
}

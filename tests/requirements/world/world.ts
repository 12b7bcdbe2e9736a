import {
  type AnyServerDefinition,
  type Client,
  type ConnectOptions,
  type FakeClock,
  type HttpOptions,
  type JsonObject,
  type RawHttp,
  type Revision,
  type Server,
  MetaKey,
  connect,
  createServer,
  fakeClock,
  findRevision,
  rawHttp,
  toFetch,
} from "../library.ts";
import type { TransportName, Version } from "../requirement.ts";
import { httpWire } from "../../support/raw-http-wire.ts";
import { Inbox } from "../../support/raw-message.ts";
import { type RawPeer, modernMeta, peerOver } from "../../support/raw-peer.ts";
import { httpScripted, type ScriptedHttpOptions } from "../../support/scripted-http.ts";
import {
  type Answers,
  type Played,
  type ScriptedServer,
  memoryScripted,
  stdioScripted,
} from "../../support/scripted-server.ts";
import { memoryWire, stdioWire } from "../../support/raw-wires.ts";

interface ServeOptions {
  /** The capabilities of the client. Default: no capabilities. */
  capabilities?: JsonObject;
  /** If false, the proof opens the legacy session itself. */
  open?: boolean;
  http?: HttpOptions;
}

interface PlayOptions {
  /** The capabilities of the scripted server. Default: all. */
  capabilities?: JsonObject;
  answers?: Answers;
  http?: Omit<ScriptedHttpOptions, "sse">;
}

/** Options of a client. Headers apply to HTTP only. */
type ClientOptions = ConnectOptions & { headers?: Record<string, string> };

/** One transport and one revision in which a proof runs. It creates servers and clients for the proof, and closes them. */
export interface World {
  readonly transport: TransportName;
  readonly version: Version;
  /** The revision, as the library's data. */
  readonly revision: Revision;
  readonly isModern: boolean;
  readonly isHttp: boolean;
  /** The time of everything that the world makes. */
  readonly clock: FakeClock;
  /** The errors that the servers of this world reported to `onError`. */
  readonly errors: unknown[];
  /** Serves a definition and returns a scripted client, with an open session if the revision has sessions. */
  serve(definition?: Partial<AnyServerDefinition>, options?: ServeOptions): Promise<RawPeer>;
  /** Another client of the server that was served last, with a separate session. Requires an earlier call of `serve`. */
  join(capabilities?: JsonObject): Promise<RawPeer>;
  /** The server that was served last, to be changed while it is live. */
  readonly server: Server;
  /** Serves a definition at an HTTP endpoint, as a function from requests to responses. */
  serveFetch(definition?: Partial<AnyServerDefinition>, options?: HttpOptions): (request: Request) => Promise<Response>;
  /** The same for a client whose headers and bodies the proof writes. */
  serveHttp(definition?: Partial<AnyServerDefinition>, options?: HttpOptions): RawHttp;
  /** Connects a client, pinned to the revision, to a scripted server that agrees to it. */
  connect(options?: ClientOptions, play?: PlayOptions): Promise<{ client: Client; server: ScriptedServer }>;
  /** Connects a client to a scripted server that answers nothing by itself. */
  dial(options?: ClientOptions, play?: PlayOptions): { connecting: Promise<Client>; server: ScriptedServer };
  end(): Promise<void>;
}

export const allCapabilities: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

const serverInfo = { name: "scripted", version: "1.0.0" };

export function initializeResult(version: string, capabilities: JsonObject = allCapabilities): JsonObject {
  return { protocolVersion: version, capabilities, serverInfo };
}

export function discoverResult(versions: readonly string[], capabilities: JsonObject = allCapabilities): JsonObject {
  const kept = { ttlMs: 0, cacheScope: "public" };
  const _meta = { [MetaKey.serverInfo]: serverInfo };
  return { resultType: "complete", supportedVersions: versions, capabilities, ...kept, _meta };
}

/** The description of a scripted server in the handshake. */
function greeting(version: Version, capabilities: JsonObject | undefined): Answers {
  return {
    initialize: () => initializeResult(version, capabilities),
    "server/discover": () => discoverResult([version], capabilities),
  };
}

export function makeWorld(transport: TransportName, version: Version): World {
  const revision = findRevision(version)!;
  const clock = fakeClock();
  const errors: unknown[] = [];
  const ends: (() => Promise<unknown>)[] = [];
  const isHttp = transport.startsWith("http");
  let lastServer: Server | undefined;

  function create(definition: Partial<AnyServerDefinition>): Server {
    const onError = (error: unknown): void => void errors.push(error);
    lastServer = createServer({ name: "proof", version: "1.0.0", clock, onError, ...definition }) as Server;
    return lastServer;
  }

  async function peerOf(server: Server, { capabilities, open, http }: Required<ServeOptions>): Promise<RawPeer> {
    const inbox = new Inbox();
    const accept = transport === "http-sse" ? "text/event-stream" : "application/json, text/event-stream";
    const wire = isHttp
      ? httpWire(server, inbox, { revision, accept, http })
      : await (transport === "memory" ? memoryWire : stdioWire)(server, inbox);
    ends.push(() => wire.close());
    const peer = peerOver(wire, inbox, {
      version,
      capabilities,
      ...(world.isModern && { meta: modernMeta(version, capabilities) }),
    });
    if (open && !world.isModern) await peer.initialize();
    return peer;
  }

  const world: World = {
    transport,
    version,
    revision,
    isModern: revision.kind === "modern",
    isHttp,
    clock,
    errors,
    get server() {
      if (!lastServer) throw new Error("Nothing is served yet.");
      return lastServer;
    },
    async serve(definition = {}, { capabilities = {}, open = true, http = {} } = {}) {
      return peerOf(create(definition), { capabilities, open, http });
    },
    join: (capabilities = {}) => peerOf(world.server, { capabilities, open: true, http: {} }),
    serveFetch(definition = {}, options = {}) {
      const { fetch, close } = toFetch(create(definition), options);
      ends.push(close);
      return fetch;
    },
    serveHttp: (definition, options) => rawHttp("http://localhost/mcp", world.serveFetch(definition, options)),
    async connect(options = {}, play = {}) {
      const answers = { ...greeting(version, play.capabilities), ...play.answers };
      const { connecting, server } = world.dial({ revision: version, ...options }, { ...play, answers });
      const client = await connecting;
      if (!world.isModern) await server.notification("notifications/initialized");
      return { client, server };
    },
    dial(options = {}, { answers = {}, http = {} } = {}) {
      const all: ClientOptions = { clock, ...options };
      const { server, connecting } = isHttp ? overHttp(all) : overStream(all);
      ends.push(() => connecting.then((client) => client.close()).catch(() => {}));
      return { server, connecting };

      function overHttp(given: ClientOptions): { server: ScriptedServer; connecting: Promise<Client> } {
        const { url, fetch, server } = httpScripted(answers, {
          sse: transport === "http-sse",
          standalone: !world.isModern,
          ...http,
        });
        return { server, connecting: connect(url, { ...given, fetch }) };
      }

      function overStream(given: ClientOptions): { server: ScriptedServer; connecting: Promise<Client> } {
        const played: Played = transport === "memory" ? memoryScripted(answers) : stdioScripted(answers);
        return { server: played.server, connecting: connect(played.transport, given) };
      }
    },
    async end() {
      for (const end of ends.splice(0).toReversed()) await end();
    },
  };
  return world;
}

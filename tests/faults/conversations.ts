import type { Client } from "../../packages/mcparley/src/client/client.ts";
import type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
import { type RevisionName, type TransportName, modern } from "./dimensions.ts";
import type { Stage } from "./operations.ts";
import { note } from "./peers/scripted-server.ts";

/** A server of one revision over one transport. */
export interface Peer {
  transport: TransportName;
  revision: RevisionName;
}

/** The calls of a program on a connected client, and the requests that they take. */
export interface Conversation {
  name: string;
  run(client: Client, stage: Stage): Promise<unknown>;
  /** The exact requests and notifications between those of connecting and closing, in order. */
  sends(peer: Peer): string[];
  /** The options of the client. */
  options?: ConnectOptions;
  /** The client may choose the order of the requests. */
  hasAnyOrder?: boolean;
}

const isModern = ({ revision }: Peer): boolean => revision === modern;
/** The client must know a tool before it calls it: its arguments may have to be sent in headers. */
const needsTools = (peer: Peer): boolean => isModern(peer) && peer.transport === "http";
const lookUp = (peer: Peer): string[] => (needsTools(peer) ? ["tools/list"] : []);
const times = (count: number, request: string): string[] => Array.from({ length: count }, () => request);

export const conversations: readonly Conversation[] = [
  {
    name: "nothing between connect and close",
    run: async () => {},
    sends: () => [],
  },
  {
    name: "one list, three calls of different tools, a change of the list, and a call",
    async run(client, stage) {
      const subscription = await client.listen({ tools: true }, () => {});
      await client.listTools().all();
      for (const name of ["echo", "look", "ask"]) await client.callTool(name, { text: "hello" });
      stage.world.server.change();
      await stage.wait(10);
      await client.callTool("echo", { text: "hello" });
      await client.callTool("look", { text: "hello" });
      await subscription.close();
    },
    sends: (peer) => [
      ...(isModern(peer) ? ["subscriptions/listen"] : []),
      "tools/list",
      ...times(3, "tools/call"),
      isModern(peer) ? "tools/call" : "response",
      ...lookUp(peer),
      ...times(2, "tools/call"),
      ...(isModern(peer) && peer.transport === "stdio" ? ["notifications/cancelled"] : []),
    ],
  },
  {
    name: "calls of 50 tools of a list with pages of ten, without a cache",
    options: { cache: false },
    async run(client, stage) {
      stage.world.server.catalogue = { size: 50, pageSize: 10 };
      for (let at = 0; at < 50; at++) await client.callTool(`tool-${at}`, { text: "hello" });
    },
    sends: (peer) => [...(needsTools(peer) ? times(6, "tools/list") : []), ...times(50, "tools/call")],
    hasAnyOrder: true,
  },
  {
    name: "20 first calls at the same time",
    run: (client) => Promise.all(Array.from({ length: 20 }, () => client.callTool("echo", { text: "hello" }))),
    sends: (peer) => [...lookUp(peer), ...times(20, "tools/call")],
  },
  {
    name: "two reads of a resource that stays fresh",
    async run(client, stage) {
      stage.world.server.noteTtlMs = 60_000;
      await client.readResource(note);
      await client.readResource(note);
    },
    sends: (peer) => times(isModern(peer) ? 1 : 2, "resources/read"),
  },
  {
    name: "two reads of a resource that is never fresh",
    async run(client) {
      await client.readResource(note);
      await client.readResource(note);
    },
    sends: () => times(2, "resources/read"),
  },
  {
    name: "a subscription, a change of the resource, and a read",
    async run(client, stage) {
      stage.world.server.noteTtlMs = 60_000;
      const subscription = await client.listen({ uris: [note] }, () => {});
      await client.readResource(note);
      stage.world.server.change();
      await stage.wait(10);
      await client.readResource(note);
      await subscription.close();
    },
    sends: (peer) => [
      isModern(peer) ? "subscriptions/listen" : "resources/subscribe",
      ...times(2, "resources/read"),
      ...(isModern(peer) ? [] : ["resources/unsubscribe"]),
      ...(isModern(peer) && peer.transport === "stdio" ? ["notifications/cancelled"] : []),
    ],
  },
  {
    name: "a call that asks the user",
    run: (client) => client.callTool("ask", { text: "hello" }),
    sends: (peer) => [...lookUp(peer), "tools/call", isModern(peer) ? "tools/call" : "response"],
  },
];

/** The requests of connecting to a server whose revision is unknown. */
export function openingOf(peer: Peer): string[] {
  const start = peer.transport === "stdio" ? ["start"] : [];
  if (isModern(peer)) return [...start, "server/discover"];
  const refused = [...start, "server/discover", "initialize"];
  if (peer.transport === "http-sse") return [...refused, "GET (open)", "initialize", "notifications/initialized"];
  return [...refused, "notifications/initialized", ...(peer.transport === "http" ? ["GET"] : [])];
}

/** The requests of closing. */
export function closingOf(peer: Peer): string[] {
  return peer.transport === "http" && !isModern(peer) ? ["DELETE"] : [];
}

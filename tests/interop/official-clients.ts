import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** The operations of the tests, equal for each version of the official client. */
export interface OfficialClient {
  readonly revisionKind: "legacy" | "modern";
  listTools(): Promise<{ name: string }[]>;
  callTool(name: string, args: object, options?: CallOptions): Promise<OfficialResult>;
  listPrompts(): Promise<{ name: string }[]>;
  getPrompt(
    name: string,
    args: Record<string, string>,
  ): Promise<{ messages: { role: string; content: { type: string } }[] }>;
  complete(prompt: string, argument: string, value: string): Promise<string[]>;
  listResources(): Promise<{ uri: string; mimeType?: string | undefined; name: string }[]>;
  readResource(uri: string): Promise<{ contents: { text?: string; blob?: string; mimeType?: string | undefined }[] }>;
  /** Begins to listen for changes of a resource, and of the list; `onChange` receives `updated` or `listed`. */
  watch(uri: string, onChange: (kind: "updated" | "listed") => void): Promise<void>;
  close(): Promise<void>;
}

export interface OfficialResult {
  content: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/** The default of these clients, a minute, would fail calls on a busy machine. */
const patient = { timeout: 600_000 };

interface CallOptions {
  onprogress?: (progress: { progress: number; total?: number | undefined }) => void;
  signal?: AbortSignal;
}

export type Where = { url: string } | { command: string; args: string[] };

const info = { name: "interop", version: "1.0.0" };
const capabilities = { elicitation: { form: {} }, sampling: {} };

/** The answers of the user and the model of these clients. */
const answers = {
  elicit: { action: "accept" as const, content: { severity: "SEV2", lead: "Ada", confirm: true, word: "hello" } },
  sample: {
    role: "assistant" as const,
    model: "scripted",
    content: { type: "text" as const, text: "In short: read the guide." },
  },
};

/** The official client (v1), `@modelcontextprotocol/sdk`. */
export async function connectFirst(where: Where): Promise<OfficialClient> {
  const client = new FirstClient(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => answers.elicit);
  client.setRequestHandler(CreateMessageRequestSchema, () => answers.sample);
  await client.connect(
    "url" in where ? new FirstHttp(new URL(where.url)) : new FirstStdio({ ...where, stderr: "ignore" }),
  );
  return {
    revisionKind: "legacy",
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, undefined, {
        ...patient,
        ...options,
      })) as unknown as OfficialResult,
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion
        .values,
    listResources: async () => (await client.listResources()).resources,
    readResource: async (uri) => await client.readResource({ uri }),
    async watch(uri, onChange) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => onChange("updated"));
      client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onChange("listed"));
      await client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

/** The official client (v2), `@modelcontextprotocol/client`, with legacy or modern revisions. */
export async function connectSecond(where: Where, revisionKind: "legacy" | "modern"): Promise<OfficialClient> {
  const client = new ModernClient(info, {
    capabilities,
    versionNegotiation: { mode: revisionKind === "modern" ? "auto" : "legacy" },
  });
  client.setRequestHandler("elicitation/create", () => answers.elicit);
  client.setRequestHandler("sampling/createMessage", () => answers.sample);
  await client.connect(
    "url" in where ? new ModernHttp(new URL(where.url)) : new ModernStdio({ ...where, stderr: "ignore" }),
  );
  return {
    revisionKind,
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args, options = {}) =>
      await client.callTool({ name, arguments: { ...args } }, { ...patient, ...options }),
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion
        .values,
    listResources: async () => (await client.listResources()).resources,
    readResource: async (uri) => await client.readResource({ uri }),
    async watch(uri, onChange) {
      client.setNotificationHandler("notifications/resources/updated", () => onChange("updated"));
      client.setNotificationHandler("notifications/resources/list_changed", () => onChange("listed"));
      if (revisionKind === "legacy") await client.subscribeResource({ uri });
      else await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
    },
    close: () => client.close(),
  };
}

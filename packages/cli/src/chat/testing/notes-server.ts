import { ToolError } from "mcparley";
import { type Server, createServer, image, prompt, resource, tool } from "mcparley/server";
import { z } from "zod";

/** The revisions that the tests of the chat use: the newest of each kind. */
export const revisions = { legacy: "2025-11-25", modern: "2026-07-28" } as const;

/** A server with an example of everything that a chat shows, and the effects of its calls. */
export interface NotesServer {
  readonly server: Server;
  /** The names and arguments of the calls that ended. */
  readonly calls: string[];
  /** The names of the calls that were cancelled. */
  readonly cancelledCalls: string[];
  /** The values for which completions were requested. */
  readonly completedValues: string[];
  /** The number of reads of each URI. */
  readonly reads: string[];
  /** Ends the call of `wait` that runs. */
  release(): void;
  /** The text of the note of today. */
  today: string;
}

/** The tools without effects. */
const plainTools = {
  colour: tool({
    input: z.object({ name: z.enum(["red", "blue"]), dark: z.boolean().optional() }),
    call: ({ name, dark }) => `${name}${dark === true ? ", dark" : ""}`,
  }),
  fail: tool({
    call: () => {
      throw new ToolError("The index is locked.");
    },
  }),
  log: tool({
    call: (_input, ctx) => {
      ctx.log.info("a detail");
      ctx.log.warning("low space", "disk");
      ctx.log.error({ code: 7 });
      return "logged";
    },
  }),
  book: tool({
    description: "Books a table.",
    call: async (_input, ctx) => {
      const schema = z.object({ guests: z.number().min(1).max(8) });
      const { guests } = await ctx.elicit({ message: "How many guests?", schema });
      return `Booked for ${guests}`;
    },
  }),
  pay: tool({
    call: async (_input, ctx) => {
      await ctx.elicit({ message: "Pay, please.", url: "https://pay.example.com/7" });
      return "paid";
    },
  }),
  think: tool({
    call: async (_input, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: "user", content: { type: "text", text: "Name a colour." } }],
        maxTokens: 20,
      });
      return `The answer: ${JSON.stringify(content)}`;
    },
  }),
  folders: tool({ call: async (_input, ctx) => JSON.stringify(await ctx.roots()) }),
  draw: tool({ call: () => ["Here it is.", image(new Uint8Array([1, 2, 3]), "image/png")] }),
};

const servicesByTeam: Record<string, string[]> = { search: ["indexer", "query-api"], storage: ["blob-api"] };
const services = (prefix: string, { team = "" }: Record<string, string | undefined>): string[] =>
  (servicesByTeam[team] ?? []).filter((service) => service.startsWith(prefix));

/** Returns a new server. */
export function notesServer(): NotesServer {
  const state: NotesServer & { releases: (() => void)[] } = {
    calls: [],
    cancelledCalls: [],
    completedValues: [],
    reads: [],
    releases: [],
    release: () => state.releases.shift()?.(),
    today: "Buy milk.",
    get server() {
      return server;
    },
  };
  const server = createServer({
    name: "notes",
    version: "1.2.3",
    instructions: "Use the search first.",
    onError: () => {},
    tools: toolsOf(state),
    prompts: promptsOf(state),
    resources: {
      today: resource("note://today", {
        description: "The note of today",
        mimeType: "text/plain",
        read: () => {
          state.reads.push("note://today");
          return state.today;
        },
      }),
      broken: resource("note://broken", {
        read: () => {
          throw new ToolError("The disk is full.");
        },
      }),
      // Reads until the request is cancelled.
      hung: resource("hung://{id}", {
        read: (_variables, ctx) =>
          new Promise((resolve) => {
            ctx.signal.addEventListener("abort", () => resolve("late"));
          }),
      }),
      runbook: resource("runbook://{team}/{service}", {
        description: "The runbook of a service",
        mimeType: "text/plain",
        complete: { team: ["search", "storage"], service: services },
        read: ({ team, service }) => `Runbook of ${service} (${team})`,
      }),
    },
  });
  return state;
}

/** The parts of the state that tools change. */
type ToolState = Pick<NotesServer, "calls" | "cancelledCalls"> & { readonly releases: (() => void)[] };

function toolsOf({ calls, cancelledCalls, releases }: ToolState) {
  return {
    ...plainTools,
    search: tool({
      description: "Searches the notes.",
      annotations: { readOnlyHint: true },
      input: z.object({ query: z.string(), limit: z.number().optional() }),
      call: ({ query, limit }) => {
        calls.push(`search ${query}${limit === undefined ? "" : ` ${limit}`}`);
        return `Found: ${query}`;
      },
    }),
    remove: tool({
      description: "Removes a note.",
      annotations: { destructiveHint: true },
      input: z.object({ id: z.string() }),
      call: ({ id }) => {
        calls.push(`remove ${id}`);
        return "removed";
      },
    }),
    wait: tool({
      description: "Reports progress, and waits.",
      call: (_input, ctx) =>
        new Promise<string>((resolve) => {
          releases.push(() => resolve("done"));
          ctx.signal.addEventListener("abort", () => {
            cancelledCalls.push("wait");
            resolve("late");
          });
          ctx.progress(1, 4, "one of four");
        }),
    }),
  };
}

function promptsOf({ completedValues }: Pick<NotesServer, "completedValues">) {
  return {
    summarize: prompt({
      description: "Summarizes a page.",
      arguments: {
        page: {
          required: true,
          description: "The name of the page",
          complete: (prefix) => {
            completedValues.push(prefix);
            return ["backup", "basics", "restore"].filter((page) => page.startsWith(prefix));
          },
        },
        style: { complete: ["brief", "long"] },
      },
      get: ({ page, style = "plain" }) => `Summarize ${page} in the style ${style}.`,
    }),
    daily: prompt({ description: "Plans the day.", get: () => "Plan my day." }),
    deploy: prompt({
      arguments: { team: { required: true, complete: ["search", "storage"] }, service: { complete: services } },
      get: ({ team, service = "all" }) => `Deploy ${service} of ${team}.`,
    }),
  };
}

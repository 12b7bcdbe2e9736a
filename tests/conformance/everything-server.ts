import { type Registry, type Server, type Tool, createServer, memoryStore, prompt, tool } from "mcparley/server";
import { listen } from "mcparley/node";
import { tasks } from "mcparley/tasks";
import { askingTools } from "./everything/asking-tools.ts";
import { contentTools } from "./everything/content-tools.ts";
import { prompts, resources } from "./everything/prompts-and-resources.ts";
import { offeredSkills } from "./everything/skills.ts";
import { taskTools } from "./everything/task-tools.ts";

/**
 * The server for the conformance suite. It has the definitions of all scenarios, for every revision at one URL, and prints that URL as its first line.
 */
const server: Server = createServer({
  name: "everything",
  version: "1.0.0",
  instructions: "A server that has one of everything, for conformance tests.",
  tools: {
    ...contentTools,
    ...askingTools,
    ...taskTools,
    test_trigger_tool_change: tool({
      description: "Changes the list of tools, for those who listen.",
      call: () => comeAndGo(server.tools, "test_passing_tool", tool({ call: () => "Here for a moment." })),
    }),
    test_trigger_prompt_change: tool({
      description: "Changes the list of prompts, for those who listen.",
      call: () => comeAndGo(server.prompts, "test_passing_prompt", prompt({ get: () => "Here for a moment." })),
    }),
  } satisfies Record<string, Tool>,
  prompts,
  resources,
  store: memoryStore(),
  extensions: [tasks({ pollIntervalMs: 200 }), offeredSkills],
});

/** Adds and removes a definition: the list does not change, and subscribers are notified. */
function comeAndGo<D>(registry: Registry<D>, name: string, definition: D): string {
  registry.set(name, definition);
  registry.delete(name);
  return "The list has changed.";
}

const events = { maxStream: 1_000, retry: 500 };
const { url } = await listen(server, { port: 0, host: "127.0.0.1", events });
process.stdout.write(`${url.replace("127.0.0.1", "localhost")}\n`);

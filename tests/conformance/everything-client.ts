import { type Client, type ConnectOptions, type RequestOptions, connect } from "mcparley/client";
import { authorize } from "./everything/authorize.ts";
import { machineFor } from "./everything/machine-clients.ts";
import { listSkills, useFirstSkill } from "./everything/skills.ts";

/**
 * The client for the conformance suite. It runs the scenario that the environment names, at the URL of its last argument.
 */
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Record<string, unknown>;
const url = process.argv.at(-1) ?? "";

/** The revision by which the suite checks the messages. Suites that name no revision accept any. */
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "auto";

/** Can be asked everything: accepts forms with the defaults that they have. */
const answering: ConnectOptions = {
  revision,
  elicit: () => ({ action: "accept" }),
  elicitModes: ["form"],
  sample: () => ({ role: "assistant", content: { type: "text", text: "An answer." }, model: "none" }),
  roots: [],
};

const whole: RequestOptions = { timeout: { total: 20_000 } };

type Run = (client: Client) => Promise<unknown>;

const listTools: Run = (client) => client.listTools().all();

const runs: Record<string, Run> = {
  initialize: async () => {},
  "request-metadata": (client) => client.ping(),
  "json-schema-ref-no-deref": listTools,
  tools_call: async (client) => {
    await listTools(client);
    await client.callTool("add_numbers", { a: 5, b: 3 });
  },
  "elicitation-sep1034-client-defaults": (client) => client.callTool("test_client_elicitation_defaults"),
  "sse-retry": (client) => client.callTool("test_reconnection", {}, whole),
  "http-standard-headers": useEverything,
  "http-custom-headers": callAsTold,
  "http-invalid-tool-headers": callEachTool,
  "sep-2322-client-request-state": async (client) => {
    await Promise.all([client.callTool("test_mrtr_echo_state"), client.callTool("test_mrtr_unrelated")]);
    await client.callTool("test_mrtr_no_state");
    await client.callTool("test_mrtr_no_result_type");
  },
  "sep-2640-client-no-prefetch": listSkills,
  "sep-2640-client-verify-digest": useFirstSkill,
  "sep-2640-client-verify-size": useFirstSkill,
  "sep-2640-client-verify-frontmatter": useFirstSkill,
  "json-schema-2020-12-preservation": async (client) => {
    const tools = await client.listTools().all();
    const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
    await client.callTool("json_schema_echo", { schema });
  },
};

async function useEverything(client: Client): Promise<void> {
  for (const { name } of await client.listTools().all()) await client.callTool(name);
  for (const { uri } of await client.listResources().all()) await client.readResource(uri);
  for (const { name } of await client.listPrompts().all()) await client.getPrompt(name);
}

async function callAsTold(client: Client): Promise<void> {
  const calls = context.toolCalls as { name: string; arguments: Record<string, unknown> }[];
  await listTools(client);
  for (const call of calls) await client.callTool(call.name, call.arguments);
}

/** Calls every tool that the client offers its host, with a text for each argument. */
async function callEachTool(client: Client): Promise<void> {
  for (const { name, inputSchema } of await client.listTools().all()) {
    const names = Object.keys(inputSchema.properties ?? {});
    await client.callTool(name, Object.fromEntries(names.map((argument) => [argument, "value"])));
  }
}

const callTestTool: Run = async (client) => {
  await listTools(client);
  await client.callTool("test-tool");
};

const isAuthorized = scenario.startsWith("auth/");
const run = isAuthorized ? callTestTool : runs[scenario];
if (!run) throw new Error(`No scenario is known by the name "${scenario}".`);
const machine = isAuthorized ? await machineFor(scenario, url, context) : undefined;
const auth = isAuthorized ? (machine ?? authorize(scenario, context)) : undefined;
const client = await connect(url, auth ? { ...answering, auth } : answering);
await run(client);
await client.close();

import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type ChosenModel, type ModelWords, openModel } from "./open-model.ts";
import { ask, hello, scriptedEndpoint, textOf } from "./testing/scripted-endpoint.ts";

const none: ModelWords = { model: undefined, baseUrl: undefined, apiKeyEnv: undefined, provider: undefined };

interface Setting {
  readonly env?: Record<string, string>;
  readonly file?: object;
}

/** Opens the model of options, with the variables and the settings of a user. */
async function open(words: Partial<ModelWords>, { env = {}, file }: Setting = {}): Promise<ChosenModel | undefined> {
  const home = await temporaryFolder(file ? { ".config/mcparley/chat.json": JSON.stringify(file) } : {});
  return openModel({ ...none, ...words }, { cwd: home, env: { HOME: home, ...env }, platform: "linux" });
}

test("no model is chosen if no source names one", async () => {
  expect(await open({})).toBeUndefined();
  expect(await open({}, { env: { OPENAI_API_KEY: "k" }, file: {} })).toBeUndefined();
});

describe("the model", () => {
  const file = { model: "lmstudio/file" };

  test.each<[string, Partial<ModelWords>, Setting, string]>([
    ["of the option", { model: "ollama/option" }, { env: { MCPARLEY_MODEL: "vllm/variable" }, file }, "ollama/option"],
    ["of the variable without an option", {}, { env: { MCPARLEY_MODEL: "vllm/variable" }, file }, "vllm/variable"],
    ["of the settings without both", {}, { file }, "lmstudio/file"],
    ["has slashes in its name", { model: "vllm/org/model" }, {}, "vllm/org/model"],
    [
      "has the whole name at a base URL",
      { model: "openai/gpt", baseUrl: "http://127.0.0.1:9/v1" },
      {},
      "127.0.0.1:9/openai/gpt",
    ],
  ])("%s", async (_, words, setting, name) => {
    expect((await open(words, setting))?.name).toBe(name);
  });

  test.each([
    ["ollama/qwen3", "common", "http://127.0.0.1:11434/v1"],
    ["lmstudio/x", "common", "http://127.0.0.1:1234/v1"],
    ["vllm/x", "common", "http://127.0.0.1:8000/v1"],
    ["openai/gpt", "openai", "https://api.openai.com/v1"],
    ["openrouter/anthropic/claude", "anthropic", "https://openrouter.ai/api/v1"],
    ["openrouter/qwen/x", "common", "https://openrouter.ai/api/v1"],
    ["groq/x", "common", "https://api.groq.com/openai/v1"],
    ["mistral/x", "common", "https://api.mistral.ai/v1"],
    ["deepseek/x", "common", "https://api.deepseek.com/v1"],
  ])("%s has the rules for schemas %s and the endpoint %s", async (model, schemas, endpoint) => {
    const keys = ["OPENAI", "OPENROUTER", "GROQ", "MISTRAL", "DEEPSEEK"].map((name) => [`${name}_API_KEY`, "k"]);
    const opened = await open({ model }, { env: Object.fromEntries(keys) as Record<string, string> });
    expect(opened).toMatchObject({ schemas, endpoint });
  });

  test.each([
    ["10.0.0.5", "http://10.0.0.5:11434/v1"],
    ["gpu:5000", "http://gpu:5000/v1"],
    [":5000", "http://127.0.0.1:5000/v1"],
    ['"0.0.0.0:11435"', "http://127.0.0.1:11435/v1"],
    ["::", "http://[::1]:11434/v1"],
    ["[::1]:5000", "http://[::1]:5000/v1"],
    ["fd00::7", "http://[fd00::7]:11434/v1"],
    ["http://gpu/", "http://gpu/v1"],
    ["https://ollama.example/path/", "https://ollama.example/path/v1"],
    ["https://ollama.example:8443", "https://ollama.example:8443/v1"],
  ])("of Ollama is at the address %s of OLLAMA_HOST: %s", async (host, endpoint) => {
    expect((await open({ model: "ollama/x" }, { env: { OLLAMA_HOST: host } }))?.endpoint).toBe(endpoint);
  });
});

describe("a key", () => {
  test("of OpenAI is not sent to the endpoint of a base URL", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    const opened = await open({ model: "openai/gpt", baseUrl: url }, { env: { OPENAI_API_KEY: "secret" } });
    expect(opened && textOf(await ask(opened.model))).toBe("Hello.");
    expect(requests[0]?.headers.authorization).toBeUndefined();
    expect(requests[0]?.body.model).toBe("openai/gpt");
  });

  test("is sent to a base URL if its variable is named", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    const env = { LLM_KEY: " secret \n" };
    const opened = await open({ model: "m", baseUrl: `${url}/`, apiKeyEnv: "LLM_KEY" }, { env });
    if (opened) await ask(opened.model);
    expect(requests[0]).toMatchObject({ path: "/v1/chat/completions", headers: { authorization: "Bearer secret" } });
  });

  test("of the settings is not sent to the address of the options", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    const file = { model: "x", baseUrl: "https://llm.example/v1", apiKeyEnv: "LLM_KEY" };
    const opened = await open({ model: "m", baseUrl: url }, { env: { LLM_KEY: "secret" }, file });
    if (opened) await ask(opened.model);
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });
});

test.each<[string, Partial<ModelWords>, Setting, string, string]>([
  [
    "a model without a provider",
    { model: "qwen3" },
    {},
    '--model: "qwen3" names no provider and model.',
    "Write PROVIDER/NAME, such as ollama/qwen3. For another endpoint, add --base-url URL.",
  ],
  [
    "a provider without a model",
    { model: "ollama/" },
    {},
    '--model: "ollama/" names no provider and model.',
    "Write PROVIDER/NAME, such as ollama/qwen3. For another endpoint, add --base-url URL.",
  ],
  [
    "an unknown provider",
    {},
    { env: { MCPARLEY_MODEL: "olama/x" } },
    'MCPARLEY_MODEL: there is no model provider "olama".',
    'Did you mean "ollama"? Others need a package of the AI SDK, such as --provider @ai-sdk/anthropic#anthropic.',
  ],
  [
    "a missing key",
    { model: "openai/gpt" },
    {},
    "OpenAI needs a key, and the environment variable OPENAI_API_KEY is not set.",
    "Set OPENAI_API_KEY to the key, or name another variable with --api-key-env NAME.",
  ],
  [
    "a key with a line break",
    { model: "openai/gpt" },
    { env: { OPENAI_API_KEY: "a\nb" } },
    "The environment variable OPENAI_API_KEY contains characters that a key cannot have.",
    "Set OPENAI_API_KEY to the key only, on one line.",
  ],
  [
    "a key in place of its variable",
    { model: "openai/gpt", apiKeyEnv: "sk-4711" },
    {},
    "--api-key-env needs the name of an environment variable, and not a key.",
    "Set a variable to the key, and write its name, such as --api-key-env LLM_KEY.",
  ],
  [
    "a base URL without a model",
    { baseUrl: "http://127.0.0.1/v1" },
    {},
    "--base-url belongs to a model, and --model is missing.",
    "Add --model NAME.",
  ],
  [
    "the variable of a key without a model",
    { apiKeyEnv: "X" },
    { file: { model: "ollama/x" } },
    "--api-key-env belongs to a model, and --model is missing.",
    "Add --model NAME.",
  ],
  [
    "a provider with a base URL",
    { model: "x", provider: "p#e", baseUrl: "http://127.0.0.1/v1" },
    {},
    "A base URL cannot be set for a provider of a package.",
    "Leave it out. The documentation of the package names the variables that it reads.",
  ],
  [
    "a provider without an export",
    { model: "x", provider: "@ai-sdk/anthropic" },
    {},
    '--provider: "@ai-sdk/anthropic" is not an export of a package.',
    "Write PACKAGE#export, such as @ai-sdk/anthropic#anthropic.",
  ],
  [
    "another protocol",
    { model: "x", baseUrl: "file:///etc" },
    {},
    "--base-url is not a URL with http or https.",
    "Write it like http://127.0.0.1:8080/v1.",
  ],
  [
    "a password in the base URL",
    { model: "x", baseUrl: "https://u:secret@a.example/v1" },
    {},
    "--base-url contains a user name or a password.",
    "Leave them out. Name the variable that has the key with --api-key-env NAME.",
  ],
  [
    "a query in the base URL",
    { model: "x", baseUrl: "https://a.example/v1?key=secret" },
    {},
    "--base-url contains a query or a fragment.",
    "Write only the path, like http://127.0.0.1:8080/v1.",
  ],
  [
    "the address of the method",
    { model: "x", baseUrl: "https://a.example/v1/chat/completions" },
    {},
    "--base-url is the address of one method.",
    "Leave out its end: https://a.example/v1",
  ],
  [
    "a key without encryption",
    { model: "x", baseUrl: "http://a.example/v1", apiKeyEnv: "K" },
    { env: { K: "k" } },
    "--base-url would send the key to a.example without encryption.",
    "Use https://a.example, or leave out --api-key-env if the endpoint needs no key.",
  ],
  [
    "an invalid OLLAMA_HOST",
    { model: "ollama/x" },
    { env: { OLLAMA_HOST: "a:b:c" } },
    "The environment variable OLLAMA_HOST is not an address.",
    "Set it to HOST, HOST:PORT or http://HOST:PORT, such as 127.0.0.1:11434.",
  ],
])("refuses %s with the cure", async (_, words, setting, ...[message, hint]) => {
  await expect(open(words, setting)).rejects.toMatchObject({ name: "UsageError", message, hint });
});

test("names the file of the settings in an error of its base URL", async () => {
  const file = { model: "x", baseUrl: "http://a.example/v1", apiKeyEnv: "K" };
  await expect(open({}, { env: { K: "k" }, file })).rejects.toThrow(
    /chat\.json: "baseUrl" would send the key to a\.example without encryption\.$/,
  );
});

test.each([
  ["127.0.0.1:8080", true],
  ["192.168.1.5", true],
  ["[fd00::1]:80", true],
  ["gpu", true],
  ["gpu.local", true],
  ["8.8.8.8", false],
  ["[2001:4860::1]", false],
  ["127.0.0.1.example.com", false],
])("a key over http to %s is allowed: %s", async (host, isAllowed) => {
  const opening = open({ model: "x", baseUrl: `http://${host}/v1`, apiKeyEnv: "K" }, { env: { K: "k" } });
  if (isAllowed) expect((await opening)?.endpoint).toBe(`http://${host.replace(/:80$/, "")}/v1`);
  else await expect(opening).rejects.toThrow("without encryption");
});

test("a model without a key is allowed over http on any host", async () => {
  expect((await open({ model: "x", baseUrl: "http://a.example/v1" }))?.endpoint).toBe("http://a.example/v1");
});

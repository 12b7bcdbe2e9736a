import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type ChatSettings, readChatSettings } from "./chat-settings.ts";

/** Returns the settings of a file, and its path. */
async function read(text: string): Promise<{ settings: () => Promise<ChatSettings>; file: string }> {
  const folder = await temporaryFolder({ "mcparley/chat.json": text });
  const surroundings = { env: { XDG_CONFIG_HOME: folder }, platform: "linux" } as const;
  return { settings: () => readChatSettings(surroundings), file: join(folder, "mcparley", "chat.json") };
}

test("reads all settings, with comments and a trailing comma", async () => {
  const { settings, file } = await read(`{
    // The local model.
    "model": "qwen3",
    "baseUrl": "http://127.0.0.1:8080/v1",
    "apiKeyEnv": "LLM_KEY",
    "providers": { "anthropic": "@ai-sdk/anthropic#anthropic", },
  }`);
  expect(await settings()).toEqual({
    file,
    model: "qwen3",
    baseUrl: "http://127.0.0.1:8080/v1",
    apiKeyEnv: "LLM_KEY",
    providers: new Map([
      ["anthropic", { package: "@ai-sdk/anthropic", specifier: "@ai-sdk/anthropic", export: "anthropic" }],
    ]),
  });
});

test("returns no settings without a file", async () => {
  const folder = await temporaryFolder();
  const settings = await readChatSettings({ env: { XDG_CONFIG_HOME: folder }, platform: "linux" });
  expect(settings).toMatchObject({ model: undefined, baseUrl: undefined, apiKeyEnv: undefined });
  expect(settings.providers.size).toBe(0);
});

test.each([
  ["no object", "[]", ":1: the file must contain a JSON object.", undefined],
  ["a syntax error", '{\n"model": }', ":2:10: expected a value but found }.", undefined],
  ["an unknown setting", '{\n"modle": "x/y"}', ':2: there is no setting "modle".', 'Did you mean "model"?'],
  [
    "a setting of another type",
    '{\n\n"model": 5}',
    ':3: "model" has an invalid value.',
    'It must be a text such as "ollama/qwen3".',
  ],
  [
    "an address that is no URL",
    '{"model": "x", "baseUrl": "x"}',
    ':1: "baseUrl" has an invalid value.',
    'It must be a URL such as "http://127.0.0.1:8080/v1".',
  ],
  [
    "providers of another type",
    '{"providers": []}',
    ':1: "providers" has an invalid value.',
    'It must be an object such as { "anthropic": "@ai-sdk/anthropic#anthropic" }.',
  ],
  [
    "a provider of another type",
    '{"providers": {\n"a": 1}}',
    ':2: "a" has an invalid value.',
    'It must be a text such as "@ai-sdk/anthropic#anthropic".',
  ],
  [
    "a provider with a slash in its name",
    '{"providers": {"a/b": "x#y"}}',
    ':1: "a/b" cannot be the name of a provider.',
    "Use letters, digits, dots, hyphens and underscores.",
  ],
  [
    "a provider that is a path",
    '{"providers": {"a": "./x.js#y"}}',
    ':1: "./x.js#y" is not an export of a package.',
    "Write PACKAGE#export, such as @ai-sdk/anthropic#anthropic.",
  ],
  [
    "an address without a model",
    '{"baseUrl": "http://127.0.0.1/v1"}',
    ':1: "baseUrl" belongs to a model, and the file names none.',
    'Add "model".',
  ],
])("rejects %s with the line and the cure", async (_, text, message, hint) => {
  const { settings, file } = await read(text);
  await expect(settings()).rejects.toThrow(
    expect.objectContaining({ name: "UsageError", message: file + message, hint }),
  );
});

test("does not repeat a key that is in place of the name of a variable", async () => {
  const { settings } = await read('{"model": "x", "apiKeyEnv": "sk-4711-secret"}');
  await expect(settings()).rejects.toThrow(
    expect.objectContaining({
      message: expect.not.stringContaining("4711"),
      hint: 'It must be the name of an environment variable, such as "LLM_KEY", and not the key.',
    }),
  );
});

test.skipIf(process.platform === "win32")("refuses a file that other users can write", async () => {
  const { settings, file } = await read("{}");
  chmodSync(file, 0o666);
  await expect(settings()).rejects.toThrow(`${file}: Other users can write to the file (mode 666)`);
});

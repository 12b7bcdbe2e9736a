// @ts-check
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { providerConversations } from "./conversations.ts";
import { fileConversations } from "./file-conversations.ts";
import { fileProviders } from "./file-providers.ts";

/** @import { ConnectModel } from "./conversations.ts" */
/** @import { LoadProvider } from "./file-providers.ts" */

// Runs on Node 22, which strips the types of the imported sources. The argument is the folder with the providers' packages.
const folder = process.argv[2] ?? ".";
const { resolve } = createRequire(path.join(folder, "package.json"));

/** @type {LoadProvider} */
const load = async (name, factory) => (await import(pathToFileURL(resolve(name)).href))[factory];

const createOpenAICompatible = await load("@ai-sdk/openai-compatible", "createOpenAICompatible");
/** @type {ConnectModel} */
const connect = (settings) => createOpenAICompatible({ ...settings, includeUsage: true })("test-model");

const { specificationVersion } = connect({ name: "local", baseURL: "http://127.0.0.1", apiKey: "none" });
for (const [name, converse] of providerConversations) await check(name, () => converse(connect));
for (const [title, provider] of await fileProviders(load)) {
  for (const [name, converse] of fileConversations) await check(`${title} ${name}`, () => converse(provider));
}

/** Runs one conversation, and prints its verdict. @param {string} name @param {() => Promise<void>} converse */
async function check(name, converse) {
  try {
    await converse();
    process.stdout.write(`passed  ${specificationVersion}  ${name}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`failed  ${specificationVersion}  ${name}\n`);
    console.error(error);
  }
}

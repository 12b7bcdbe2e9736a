// @ts-check
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { providerConversations } from "./conversations.ts";

/** @import { ConnectModel } from "./conversations.ts" */

// Runs on Node 22, which strips the types of the imported sources. The argument is the folder with the provider's package.
const folder = process.argv[2] ?? ".";
const entry = createRequire(path.join(folder, "package.json")).resolve("@ai-sdk/openai-compatible");
const { createOpenAICompatible } = await import(pathToFileURL(entry).href);

/** @type {ConnectModel} */
const connect = (settings) => createOpenAICompatible({ ...settings, includeUsage: true })("test-model");

const { specificationVersion } = connect({ name: "local", baseURL: "http://127.0.0.1", apiKey: "none" });
for (const [name, converse] of providerConversations) {
  try {
    await converse(connect);
    process.stdout.write(`passed  ${specificationVersion}  ${name}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`failed  ${specificationVersion}  ${name}\n`);
    console.error(error);
  }
}

import { onTestFinished } from "vitest";
import { type ModelScript, type ScriptedEndpoint, startEndpoint } from "./scripted-endpoint.mjs";

export { failWith, hold, say, toolCall } from "./scripted-endpoint.mjs";

/** Starts an endpoint that answers by a script, and is closed when the test is finished. */
export async function openModelEndpoint(script: ModelScript): Promise<ScriptedEndpoint> {
  const endpoint = await startEndpoint(script);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

import { type Client, type ConnectOptions, connect } from "mcparley/client";
import { onTestFinished } from "vitest";
import { type LiveFolder, type LiveOptions, openFolder } from "../live-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface ServedFolder {
  live: LiveFolder;
  client: Client;
  /** The calls of `onError`. */
  errors: { error: unknown; what: string }[];
}

/** Serves a folder in memory to a client. Both are closed when the test has finished. */
export async function serveFolder(
  folder: string,
  options: { live?: LiveOptions; client?: ConnectOptions } = {},
): Promise<ServedFolder> {
  const errors: ServedFolder["errors"] = [];
  const live = await openFolder(folder, {
    name: "test",
    onError: (error, what) => void errors.push({ error, what }),
    ...options.live,
  });
  const client = await connect(live.server, options.client);
  onTestFinished(async () => {
    await client.close();
    await live.server.close();
  });
  return { live, client, errors };
}

/** Serves these files. */
export async function serveFiles(
  files: Record<string, string | Uint8Array>,
  options?: Parameters<typeof serveFolder>[1],
): Promise<ServedFolder> {
  return serveFolder(await temporaryFolder(files), options);
}

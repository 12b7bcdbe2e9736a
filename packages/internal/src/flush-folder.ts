import { open } from "node:fs/promises";

/** Makes a rename in a folder durable. Systems that cannot open a folder do this without a request. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

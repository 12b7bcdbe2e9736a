import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileCredentials, fileStore } from "mcparley/node";

/**
 * Imports the entry points of the arguments, and uses the storage in files. Writes a line of JSON for each part, with an
 * `error` if it failed.
 */
const report = (part, error) => process.stdout.write(`${JSON.stringify({ part, error: error && String(error) })}\n`);
const attempt = async (part, use) => {
  await use().then(
    () => report(part),
    (error) => report(part, error),
  );
};
const must = (value, wanted) => {
  if (value !== wanted) throw new Error(`read ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`);
};

for (const specifier of process.argv.slice(2)) await attempt(specifier, () => import(specifier));

const folder = mkdtempSync(path.join(tmpdir(), "mcparley-parts-"));
await attempt("fileStore", async () => {
  const store = fileStore(path.join(folder, "store"));
  await store.set("key", "value", { ttl: 60_000 });
  await store.close();
  const again = fileStore(path.join(folder, "store"));
  must(await again.get("key"), "value");
  await again.close();
});
await attempt("fileCredentials", async () => {
  const storage = fileCredentials(path.join(folder, "credentials"), { passphrase: "correct horse" });
  await storage.compareAndSet("token", undefined, "secret");
  const again = fileCredentials(path.join(folder, "credentials"), { passphrase: "correct horse" });
  must(await again.get("token"), "secret");
});
rmSync(folder, { recursive: true, force: true });
process.exit(0);

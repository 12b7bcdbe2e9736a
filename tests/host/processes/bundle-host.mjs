// @ts-check
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { texts } from "../../../scripts/bundle/plugins.mjs";

const input = fileURLToPath(new URL("../../../packages/host/src/index.ts", import.meta.url));

/** Resolves packages to URLs, because the bundle is in a folder without packages. */
const packages = {
  name: "packages",
  resolveId: (/** @type {string} */ id, /** @type {string | undefined} */ importer) =>
    importer && /^[a-z]/.test(id) && !id.startsWith("node:") ? { id: import.meta.resolve(id), external: true } : null,
};

/** Bundles the host into one file, minified, as an application may do. @param {string} file */
export async function bundleHost(file) {
  const bundle = await rolldown({ input, platform: "node", plugins: [texts(), packages] });
  await bundle.write({ file, format: "esm", minify: true });
  await bundle.close();
}

// @ts-check
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { texts } from "../../../scripts/bundle/plugins.mjs";

const input = fileURLToPath(new URL("../../../packages/host/src/processes/watchdog.ts", import.meta.url));

/** Bundles the watchdog into one file, minified, as an application may do. @param {string} file */
export async function bundleWatchdog(file) {
  const bundle = await rolldown({ input, platform: "node", plugins: [texts()] });
  await bundle.write({ file, format: "esm", minify: true });
  await bundle.close();
}

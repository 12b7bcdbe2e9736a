// @ts-check
import { chromium } from "playwright-core";
import { chromiumArguments, findChromium } from "../../tests/support/chromium.mjs";

/**
 * Starts a browser without a window.
 *
 * @returns {Promise<import("playwright-core").Browser | undefined>} undefined if there is none
 */
export async function startBrowser() {
  const executablePath = findChromium();
  if (executablePath === undefined) return undefined;
  return chromium.launch({ executablePath, args: chromiumArguments });
}

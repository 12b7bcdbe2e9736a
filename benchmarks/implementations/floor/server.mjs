// @ts-check
import { settings } from "../../settings.mjs";

await import(settings.way === "http" ? ("Bun" in globalThis ? "./bun.mjs" : "./http.mjs") : "./stdio.mjs");

// @ts-check
import { settings } from "../../settings.mjs";

await import(settings.way === "http" ? "./http.mjs" : "./stdio.mjs");

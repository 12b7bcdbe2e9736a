import path from "node:path";
import { type Source, parseFolder } from "../../scripts/house/syntax.mjs";
import type { Layers } from "./layers.ts";
import { root } from "./source-files.ts";

/** The layers of the host. */
export const hostLayers: Layers = {
  values: [],
  async: [],
  state: ["async"],
  processes: ["values"],
  activity: ["values"],
  renderer: ["values"],
  conversation: ["values"],
  secrets: ["values", "model"],
  catalogue: ["values"],
  model: ["values", "async", "conversation"],
  search: ["catalogue", "model"],
  consent: ["values", "async", "state", "activity", "renderer", "catalogue", "secrets"],
  input: ["values", "activity", "renderer", "conversation", "model", "consent"],
  supervision: ["values", "async", "state", "catalogue"],
  servers: ["values", "renderer", "catalogue", "input", "supervision"],
  calls: ["values", "activity", "renderer", "conversation", "catalogue", "consent"],
  context: ["values", "activity", "conversation", "catalogue"],
  loop: ["values", "activity", "conversation", "catalogue", "model", "search", "calls", "context"],
  host: [
    "values",
    "async",
    "state",
    "processes",
    "activity",
    "renderer",
    "conversation",
    "secrets",
    "catalogue",
    "model",
    "search",
    "consent",
    "input",
    "supervision",
    "servers",
    "calls",
    "context",
    "loop",
  ],
};

/** The sources of the host, without tests and their support. */
export function hostSources(): Source[] {
  const sources = parseFolder(path.join(root, "packages/host/src"));
  return sources.filter(({ name }) => !name.split("/").includes("testing"));
}

/** Reads and writes the MCP server configurations of hosts. */
export { type AppliedPlan, type ApplyOptions, applyPlan } from "./apply.ts";
export { ConfigError, type ConfigErrorCode, type ConfigErrorDetails, type Position } from "./config-error.ts";
export type { EntryIdentity } from "./entry-identity.ts";
export { type ExpandOptions, type ExpandedTarget, expandTarget } from "./expand.ts";
export { readTrustedFile } from "./files/trusted-file.ts";
export type { Host, ReferenceSupport } from "./hosts/host.ts";
export { hosts } from "./hosts/index.ts";
export type { CommandTarget, ConfiguredServer, HostId, Problem, Scope, ServerTarget, UrlTarget } from "./model.ts";
export type { PlaceOptions } from "./place.ts";
export {
  type ConfigPlan,
  type ServerOptions,
  type WriteOptions,
  changedLines,
  planAdd,
  planRemove,
  planUpdate,
} from "./plan.ts";
export { type FileOptions, type ReadOptions, type ReadResult, readConfigFile, readServers } from "./read.ts";
export { referencesIn } from "./target-references.ts";
export { type ConfigValue, type PathVariable, type Reference, formatValue } from "./values.ts";

/** Reads and writes the MCP server configurations of hosts. */
export const formats: readonly string[] = ["json", "toml", "yaml"];

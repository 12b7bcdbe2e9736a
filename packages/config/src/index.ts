/** Reads and writes the MCP server configurations of hosts. */
export {};

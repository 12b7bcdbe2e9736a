/** How one client is told of a server. */
export interface ClientSetup {
  client: string;
  /** The file that the lines belong into; undefined where they are a command. */
  where: string | undefined;
  lines: string[];
}

/** How to add a server at a URL to the clients that people use, each in its own dialect. */
export function clientSetups(serverName: string, url: string): ClientSetup[] {
  const name = serverName.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "folder";
  const [quotedName, quotedUrl] = [JSON.stringify(name), JSON.stringify(url)];
  return [
    { client: "Claude Code", where: undefined, lines: [`claude mcp add --transport http ${name} ${url}`] },
    {
      client: "VS Code",
      where: ".vscode/mcp.json",
      lines: [`{ "servers": { ${quotedName}: {`, `  "type": "http", "url": ${quotedUrl} } } }`],
    },
    {
      client: "Cursor",
      where: ".cursor/mcp.json",
      lines: [`{ "mcpServers": { ${quotedName}: {`, `  "url": ${quotedUrl} } } }`],
    },
    {
      client: "Zed",
      where: "settings.json",
      lines: [`"context_servers": { ${quotedName}: {`, `  "url": ${quotedUrl} } }`],
    },
    {
      client: "Codex",
      where: "~/.codex/config.toml",
      lines: [`[mcp_servers.${name}]`, `url = ${quotedUrl}`],
    },
  ];
}

/** What `mcparley serve --help` prints; at most 80 columns wide. */
export const serveHelp: string = `mcparley serve DIR [options]

Serve a folder to MCP clients, over HTTP or, with --stdio, to the one that
starts it.

What the folder may hold
  prompts/**/*.md       Markdown with YAML front matter; the name is the path
  resources/**          files of any kind, each with a URI
  skills/**/SKILL.md    skills: instructions, and the files beside them
  tools/**/*.ts .js     modules that export tool({ ... }); no build step
  tools/**/*.yaml       command-line programs as tools
  server.yaml           name, version, instructions, limits, roots, auth
  resources.yaml        titles and descriptions of the files in resources/

Options
      --stdio              speak the protocol on stdin and stdout
      --host HOST          listen on this address (127.0.0.1)
  -p, --port PORT          listen on this port (3333); 0 for any that is free
      --path PATH          the path of the endpoint (/mcp)
      --watch, --no-watch  read the folder again when it changes, and tell
                           clients (on over HTTP, off with --stdio)
      --allow-host NAME    answer requests for this name too; may come again
      --allow-origin URL   answer web pages of this origin too; may come again
      --trust-proxy HEADER read the client's address from this header, which a
                           proxy in front sets, such as x-forwarded-for
      --name NAME          the server's name, in place of the one in server.yaml
      --store URL          keep sessions and rate limits in Redis or Valkey, for
                           several processes behind one address, which all have
                           the same name: redis://HOST:PORT (needs the package
                           redis); or MCPARLEY_STORE in the environment
      --audit              write one JSON line for each call to stderr
  -h, --help               show this

Examples
  mcparley serve .
  mcparley serve handbook --port 0
  mcparley serve handbook --stdio
  mcparley serve handbook --host 0.0.0.0 --allow-host handbook.example.com

Exit codes
  0    ended by Ctrl-C, or because the client went away
  1    the command line is wrong, there is no such folder, or the port is taken
  70   mcparley itself failed: please report it
`;

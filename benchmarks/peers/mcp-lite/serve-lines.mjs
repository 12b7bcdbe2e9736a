/** Serves on stdin and stdout. The package has no stdio transport, so this file reads and writes lines. */
export async function serveLines(server) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
      void take(server, rest + chunk.slice(start, end));
      rest = "";
      start = end + 1;
    }
    rest += chunk.slice(start);
  }
}

async function take(server, line) {
  const response = await server._dispatch(JSON.parse(line));
  if (response) process.stdout.write(`${JSON.stringify(response)}\n`);
}

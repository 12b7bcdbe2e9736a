import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Starts the published server, which needs a port number, and writes the URL when it answers. */
if (process.argv[2] === "http") {
  const port = await freePort();
  process.env.PORT = String(port);
  process.argv[2] = "streamableHttp";
  await import("@modelcontextprotocol/server-everything/dist/index.js");
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 50));
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
} else await import("@modelcontextprotocol/server-everything/dist/index.js");

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

async function answers(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

// @ts-check
import { Server } from "node:net";

/*
 * Loaded before a program of the examples. The program listens on a free port of loopback in place of its own, and this module
 * prints the port. So a program is run as a reader copies it.
 */

const place = { port: 0, hostname: "127.0.0.1" };

/** @param {number | undefined} port */
function print(port) {
  console.log(`The port is ${port}.`);
}

/** @type {any} */
const { Bun: bun, Deno: deno } = globalThis;
if (bun) {
  const { serve } = bun;
  bun.serve = (/** @type {object} */ options) => {
    const server = serve.call(bun, { ...options, ...place });
    print(server.port);
    return server;
  };
} else if (deno) {
  const { serve } = deno;
  deno.serve = (/** @type {object} */ options, /** @type {unknown} */ handler) =>
    serve.call(
      deno,
      { ...options, ...place, onListen: (/** @type {{ port: number }} */ { port }) => print(port) },
      handler,
    );
} else {
  // oxlint-disable-next-line typescript/unbound-method -- called with its server below
  const listen = Server.prototype.listen;
  /** @this {Server} @param {unknown[]} args */
  Server.prototype.listen = function (...args) {
    const onListening = /** @type {(() => void) | undefined} */ (args.findLast((given) => typeof given === "function"));
    this.once("listening", () => {
      const address = this.address();
      if (address && typeof address === "object") print(address.port);
    });
    return listen.call(this, { port: 0, host: "127.0.0.1" }, onListening);
  };
}

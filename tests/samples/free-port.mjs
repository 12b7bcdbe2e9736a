// @ts-check
import { Server } from "node:net";

/**
 * Loaded before a sample that listens on a fixed port: the server listens on a free port of loopback, and the port is sent to the
 * process that started this one.
 */
// oxlint-disable-next-line typescript/unbound-method -- called with its server below
const listen = /** @type {(...args: unknown[]) => Server} */ (Server.prototype.listen);

/** @type {any} */ (Server.prototype).listen = function listenOnFreePort(/** @type {unknown[]} */ ...args) {
  const onListening = args.findLast((argument) => typeof argument === "function");
  this.once("listening", () => process.send?.({ port: this.address().port }));
  return listen.call(this, { port: 0, host: "127.0.0.1" }, onListening);
};

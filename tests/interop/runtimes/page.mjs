import { converse } from "../matrix/conversations.mjs";
import { openPeer } from "../matrix/peers/mcparley/peer.mjs";
import { portTransport } from "./port-transport.mjs";

/** A page that runs the conversations that its server assigns, as a client, and posts each outcome. */
const post = (path, body) => fetch(path, { method: "POST", body: JSON.stringify(body) });
const fail = (error) => void post("/error", String(error?.stack ?? error));
addEventListener("error", ({ error, message }) => fail(error ?? message));
addEventListener("unhandledrejection", ({ reason }) => fail(reason));

const assignment = await (await fetch("/assignment")).json();
/** @type {Promise<unknown>[]} */
const posted = [];
// Without a URL, the server runs in a Web Worker of the page.
const connect = (setup) => {
  if (setup.where.url) return openPeer(setup);
  const { port1, port2 } = new MessageChannel();
  new Worker("/page-server.js", { type: "module" }).postMessage(port2, [port2]);
  return openPeer({ ...setup, where: portTransport(port1) });
};
await converse(assignment, connect, (outcome) => posted.push(post("/report", outcome)));
await Promise.all(posted);
await post("/done");

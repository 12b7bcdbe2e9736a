import { server } from "../matrix/peers/mcparley/features.mjs";
import { portTransport } from "./port-transport.mjs";

/** A Web Worker that serves the page that started it. Each message of the page is the port of one connection. */
addEventListener("message", ({ data: port }) => void server.attach(portTransport(port)));

import { toFetch } from "mcparley/http";
import { server } from "../matrix/peers/mcparley/features.mjs";

/** Serves all requests in one object, which can hold sessions. */
export class Endpoint {
  #mcp = toFetch(server, { path: "/mcp", legacySse: true, keepAlive: 1_000 });

  fetch(request) {
    return this.#mcp.fetch(request);
  }
}

/** A Worker whose requests are served by a Durable Object. */
export default {
  fetch: (request, { ENDPOINT }) => ENDPOINT.get(ENDPOINT.idFromName("one")).fetch(request),
};

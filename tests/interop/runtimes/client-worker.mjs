import { converse } from "../matrix/conversations.mjs";
import { openPeer } from "../matrix/peers/mcparley/peer.mjs";

/** A Worker that runs the conversations of a request's body as a client, and answers with a line of JSON for each feature. */
export default {
  async fetch(request) {
    const assignment = await request.json();
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const report = (outcome) => void writer.write(encoder.encode(`${JSON.stringify(outcome)}\n`));
    void converse(assignment, openPeer, report).then(() => writer.close());
    return new Response(readable);
  },
};

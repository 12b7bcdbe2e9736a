import { beforeAll, describe, expect, test } from "vitest";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Conversation, type Peer, closingOf, conversations, openingOf } from "./conversations.ts";
import { revisions, transports } from "./dimensions.ts";
import { exclusionOf } from "./expected/exclusions.ts";
import { Stage } from "./operations.ts";
import { pendingConversations } from "./pending.ts";
import { preload } from "./preload.ts";
import { SteppedClock } from "./stepped-clock.ts";

beforeAll(preload);

const peers: Peer[] = transports
  .flatMap((transport) => revisions.map((revision) => ({ transport, revision })))
  .filter((peer) => exclusionOf({ operation: "call", fault: "hang", ...peer }) === undefined);

/** Runs a conversation and returns all that the client has sent. */
async function requestsOf(conversation: Conversation, peer: Peer): Promise<string[]> {
  const stage = new Stage({ operation: "call", fault: "hang", ...peer }, new SteppedClock());
  const client = await stage.prepare(stage.connect({ extensions: [], ...conversation.options }));
  await flushPromises();
  await stage.prepare(conversation.run(client, stage));
  await flushPromises();
  await stage.prepare(client.close());
  return [...stage.world.faults.attempts];
}

describe.each(peers)("over $transport in $revision the client sends no unnecessary requests", (peer) => {
  for (const conversation of conversations) {
    const { name } = conversation;
    const isPending = pendingConversations.some(
      (one) => one.name === name && one.peers.includes(`${peer.transport}/${peer.revision}`),
    );
    test(`for ${name}${isPending ? " (known defect)" : ""}`, { fails: isPending }, async () => {
      const expected = [...openingOf(peer), ...conversation.sends(peer), ...closingOf(peer)];
      const sent = await requestsOf(conversation, peer);
      if (conversation.hasAnyOrder) expect(sent.toSorted()).toEqual(expected.toSorted());
      else expect(sent).toEqual(expected);
    });
  }
});

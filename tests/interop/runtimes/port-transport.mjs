import { encode } from "mcparley";

/**
 * A transport over a `MessagePort`. The end of the connection is a message without content.
 *
 * @param {MessagePort} port
 * @returns {import("mcparley/client").Transport}
 */
export function portTransport(port) {
  let receiver;
  const end = () => {
    receiver?.closed();
    receiver = undefined;
  };
  return {
    start(given) {
      receiver = given;
      port.addEventListener("message", ({ data }) => (data === null ? end() : receiver?.message(JSON.parse(data))));
      port.start();
    },
    // The result of a message may be encoded in advance. `encode` inserts its text.
    send(message) {
      for (const one of [message].flat()) port.postMessage(encode(one));
    },
    async close() {
      if (receiver) port.postMessage(null);
      end();
    },
  };
}

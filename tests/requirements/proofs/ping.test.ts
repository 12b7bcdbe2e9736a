import { expect } from "vitest";
import { proves } from "../proves.ts";

proves("ping.answer.empty", {
  async server(world) {
    const peer = await world.serve();
    const { result } = await peer.request("ping");
    expect(result).toEqual({});
  },
  async client(world) {
    const { server } = await world.connect();
    const { result } = await server.ask("p", "ping");
    expect(result).toEqual({});
  },
});

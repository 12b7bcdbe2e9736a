import { afterEach, describe, expect, test } from "vitest";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import {
  discoverResult,
  initializeResult,
  legacyPeer,
  modernPeer,
  peerTransports,
} from "../../testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../testing/scripted-peer.ts";
import { forgetRevisions } from "./remembered-revisions.ts";
import { openClient } from "../open-client.ts";

afterEach(forgetRevisions);

const refusal = { code: -32601, message: "Method not found" };

describe("on a stream", () => {
  test("a server that answers server/discover is modern and receives no other request", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    expect(client.server).toMatchObject({
      revisionKind: "modern",
      revision: "2026-07-28",
      info: { name: "scripted", version: "1.0.0" },
      supportedVersions: ["2026-07-28"],
    });
    expect(peer.arrived.length).toBe(1);
    expect(peer.arrived[0]?.message).toMatchObject({
      method: "server/discover",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "mcparley" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    await client.close();
  });

  test.each([
    ["-32601", refusal],
    ["-32602", { code: -32602, message: "Invalid request parameters", data: "" }],
    ["-32600 with legacy versions", { code: -32600, message: "no", data: { supported: ["2024-11-05"] } }],
    ["-32002", { code: -32002, message: "not initialized" }],
    ["0", { code: 0, message: "method 'server/discover' is invalid during session initialization" }],
  ])("any error that is not a modern one (%s) leads to initialize on the same transport", async (_, error) => {
    const peer = legacyPeer();
    const connecting = openClient(peerTransports(peer));
    peer.refuse(await peer.request("server/discover"), error);
    const client = await connecting;
    await peer.notification("notifications/initialized");
    expect(client.server).toMatchObject({ revisionKind: "legacy", revision: "2025-11-25", info: { name: "scripted" } });
    await client.close();
  });

  test("an invalid discovery result leads to initialize", async () => {
    const peer = legacyPeer();
    const connecting = openClient(peerTransports(peer));
    peer.answer(await peer.request("server/discover"), {});
    expect((await connecting).server.revisionKind).toBe("legacy");
  });

  test("after a modern error, server/discover is sent again in a version that both support", async () => {
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer));
    const error = { code: -32022, message: "no", data: { supported: ["2026-07-28", "2025-11-25"], requested: "x" } };
    peer.refuse(await peer.request("server/discover"), error);
    const again = await peer.request("server/discover");
    peer.answer(again, discoverResult());
    expect((await connecting).server.revisionKind).toBe("modern");
  });

  test("a modern server that names only legacy versions is initialized with the newest of them", async () => {
    const peer = legacyPeer({ version: "2025-06-18" });
    const connecting = openClient(peerTransports(peer));
    const error = { code: -32022, message: "no", data: { supported: ["2025-03-26", "2025-06-18"] } };
    peer.refuse(await peer.request("server/discover"), error);
    expect((await connecting).server.revision).toBe("2025-06-18");
    expect(peer.arrived[1]?.message).toMatchObject({ method: "initialize", params: { protocolVersion: "2025-06-18" } });
  });

  test.each([-32020, -32021])(
    "a modern error without versions (%d) fails, and initialize is not sent",
    async (code) => {
      const peer = scriptedPeer();
      const connecting = openClient(peerTransports(peer));
      connecting.catch(() => {});
      peer.refuse(await peer.request("server/discover"), { code, message: "needs sampling" });
      await expect(connecting).rejects.toMatchObject({ code, message: "needs sampling" });
      expect(peer.arrived.length).toBe(1);
      expect(peer.isClosed).toBe(true);
    },
  );

  test("connecting without a common version fails with an error that names the versions of both", async () => {
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer));
    connecting.catch(() => {});
    peer.refuse(await peer.request("server/discover"), {
      code: -32022,
      message: "no",
      data: { supported: ["2031-01-01"] },
    });
    await expect(connecting).rejects.toThrow(
      "No protocol version in common: the server supports 2031-01-01; this client supports 2026-07-28, 2025-11-25",
    );
    await expect(connecting).rejects.toMatchObject({ code: "unsupported_revision" });
  });

  test("an unknown or modern version in the response to initialize is rejected", async () => {
    for (const version of ["2023-01-01", "2026-07-28"]) {
      const peer = scriptedPeer({ initialize: () => initializeResult(version) });
      const connecting = openClient(peerTransports(peer));
      connecting.catch(() => {});
      peer.refuse(await peer.request("server/discover"), refusal);
      await expect(connecting).rejects.toMatchObject({ code: "unsupported_revision" });
      expect(peer.isClosed).toBe(true);
      expect(peer.arrived.map(({ message }) => "method" in message && message.method)).toEqual([
        "server/discover",
        "initialize",
      ]);
    }
  });

  test("every older revision in the response to initialize is accepted", async () => {
    for (const version of ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const peer = legacyPeer({ version });
      const connecting = openClient(peerTransports(peer));
      peer.refuse(await peer.request("server/discover"), refusal);
      expect((await connecting).server.revision).toBe(version);
    }
  });
});

describe("a silent server", () => {
  test("receives initialize as well after a delay on the same transport, and a late modern response is accepted", async () => {
    const clock = fakeClock();
    const errors: Error[] = [];
    const peer = scriptedPeer();
    const dialer = peerTransports(peer);
    const connecting = openClient(dialer, { clock, onError: (error) => errors.push(error) });
    const probe = await peer.request("server/discover");
    await clock.advance(4999);
    expect(peer.arrived.length).toBe(1);
    await clock.advance(1);
    const open = await peer.request("initialize");
    await clock.advance(20_000);
    peer.answer(probe, discoverResult());
    const client = await connecting;
    expect(client.server.revisionKind).toBe("modern");
    peer.answer(open, initializeResult());
    await flushPromises();
    expect(errors).toEqual([]);
    expect(dialer.opened).toBe(1);
    expect(peer.arrived.length).toBe(2);
  });

  test("is legacy if it answers initialize while the probe has no response", async () => {
    const clock = fakeClock();
    const errors: Error[] = [];
    const peer = legacyPeer();
    const connecting = openClient(peerTransports(peer), { clock, onError: (error) => errors.push(error) });
    const probe = await peer.request("server/discover");
    await clock.advance(5000);
    const client = await connecting;
    expect(client.server.revisionKind).toBe("legacy");
    // The probe is not cancelled, and its late response is not reported.
    await peer.notification("notifications/initialized");
    peer.refuse(probe, refusal);
    expect(peer.arrived.map(({ message }) => "method" in message && message.method)).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
    ]);
    expect(errors).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("receives no second initialize after a late refusal of the probe", async () => {
    const clock = fakeClock();
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { clock });
    const probe = await peer.request("server/discover");
    await clock.advance(5000);
    const open = await peer.request("initialize");
    peer.refuse(probe, refusal);
    peer.answer(open, initializeResult());
    expect((await connecting).server.revisionKind).toBe("legacy");
    expect(peer.arrived.length).toBe(3);
  });

  test("may answer the probe after it has refused initialize", async () => {
    const clock = fakeClock();
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { clock });
    const probe = await peer.request("server/discover");
    await clock.advance(5000);
    peer.refuse(await peer.request("initialize"), { code: -32601, message: "this server is modern" });
    peer.answer(probe, discoverResult());
    expect((await connecting).server.revisionKind).toBe("modern");
  });

  test("causes a timeout if it answers neither request, and leaves no timer", async () => {
    const clock = fakeClock();
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { clock, probeTimeout: 100, timeout: { idle: 1000 } });
    connecting.catch(() => {});
    await clock.advance(1000);
    await expect(connecting).rejects.toMatchObject({ code: "timeout" });
    expect(clock.pending).toBe(0);
    expect(peer.isClosed).toBe(true);
    // `initialize` must not be cancelled.
    expect(peer.arrived.length).toBe(2);
  });

  test("receives initialize after half of a time limit that is below that of the probe", async () => {
    const clock = fakeClock();
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { clock, timeout: { idle: 2000 } });
    connecting.catch(() => {});
    await peer.request("server/discover");
    await clock.advance(1000);
    await peer.request("initialize");
    await clock.advance(1000);
    await expect(connecting).rejects.toMatchObject({ code: "timeout" });
  });

  test("a server that exits because of server/discover is restarted once and receives initialize", async () => {
    const first = scriptedPeer();
    const second = legacyPeer();
    const dialer = peerTransports(first, second);
    const connecting = openClient(dialer);
    await first.request("server/discover");
    first.close(new LocalError("exited", "exited with code 1"));
    const client = await connecting;
    expect(client.server.revisionKind).toBe("legacy");
    expect(dialer.opened).toBe(2);
    expect(second.arrived[0]?.message).toMatchObject({ method: "initialize" });
    await client.close();
  });

  test("a server that exits again fails connecting with its own reason", async () => {
    const [first, second] = [scriptedPeer(), scriptedPeer()];
    const connecting = openClient(peerTransports(first, second));
    connecting.catch(() => {});
    await first.request("server/discover");
    first.close(new LocalError("exited", "exited with code 1"));
    await second.request("initialize");
    second.close(new LocalError("exited", "exited with code 2: no such file"));
    await expect(connecting).rejects.toThrow("exited with code 2: no such file");
  });

  test("a custom transport cannot be started again", async () => {
    const peer = scriptedPeer();
    const connecting = openClient({ ...peerTransports(peer), once: true });
    connecting.catch(() => {});
    await peer.request("server/discover");
    peer.close(new LocalError("exited", "gone"));
    await expect(connecting).rejects.toThrow("gone");
  });
});

describe("over HTTP", () => {
  const http = (...peers: Parameters<typeof peerTransports>): ReturnType<typeof peerTransports> =>
    Object.assign(peerTransports(...peers), { kind: "http" as const });

  test("a status without a modern error leads to initialize", async () => {
    const peer = legacyPeer();
    const connecting = openClient(http(peer));
    peer.fail(await peer.request("server/discover"), new LocalError("http", "400 Bad Request"));
    expect((await connecting).server.revisionKind).toBe("legacy");
  });

  test("a modern error does not lead to initialize", async () => {
    const peer = scriptedPeer();
    const connecting = openClient(http(peer));
    peer.refuse(await peer.request("server/discover"), {
      code: -32022,
      message: "no",
      data: { supported: ["2026-07-28"] },
    });
    peer.answer(await peer.request("server/discover"), discoverResult());
    expect((await connecting).server.revisionKind).toBe("modern");
  });

  test.each(["unauthorized", "unreachable", "timeout"] as const)(
    "the error %s does not lead to initialize",
    async (code) => {
      const peer = scriptedPeer();
      const connecting = openClient(http(peer));
      connecting.catch(() => {});
      peer.fail(await peer.request("server/discover"), new LocalError(code, "no"));
      await expect(connecting).rejects.toMatchObject({ code });
      expect(peer.arrived.length).toBe(1);
    },
  );

  test("a silent server receives no second request", async () => {
    const clock = fakeClock();
    const peer = scriptedPeer();
    const connecting = openClient(http(peer), { clock });
    const probe = await peer.request("server/discover");
    await clock.advance(30_000);
    expect(peer.arrived.length).toBe(1);
    peer.answer(probe, discoverResult());
    expect((await connecting).server.revisionKind).toBe("modern");
  });
});

describe("a pinned revision", () => {
  test("a modern one never falls back", async () => {
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { revision: "2026-07-28" });
    connecting.catch(() => {});
    peer.refuse(await peer.request("server/discover"), refusal);
    await expect(connecting).rejects.toMatchObject({ code: "unsupported_revision", cause: expect.any(ProtocolError) });
    await expect(connecting).rejects.toThrow(
      "The server does not support 2026-07-28, which the option revision requires: Method not found",
    );
    expect(peer.arrived.length).toBe(1);
  });

  test("a modern one is requested once more if the server refuses it but lists it as supported", async () => {
    const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"], requested: "2026-07-28" } };
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { revision: "2026-07-28" });
    peer.refuse(await peer.request("server/discover"), error);
    peer.answer(await peer.request("server/discover"), discoverResult());
    expect((await connecting).server.revision).toBe("2026-07-28");
    const stubborn = scriptedPeer();
    const refused = openClient(peerTransports(stubborn), { revision: "2026-07-28" });
    refused.catch(() => {});
    stubborn.refuse(await stubborn.request("server/discover"), error);
    stubborn.refuse(await stubborn.request("server/discover"), error);
    await expect(refused).rejects.toMatchObject({ code: "unsupported_revision" });
    expect(stubborn.arrived.length).toBe(2);
  });

  test("a legacy one starts with initialize", async () => {
    const peer = legacyPeer({ version: "2025-06-18" });
    const client = await openClient(peerTransports(peer), { revision: "2025-06-18" });
    expect(client.server.revision).toBe("2025-06-18");
    expect(peer.arrived[0]?.message).toMatchObject({ method: "initialize", params: { protocolVersion: "2025-06-18" } });
  });

  test("a legacy one fails if the server answers with another one", async () => {
    const peer = legacyPeer({ version: "2025-06-18" });
    await expect(openClient(peerTransports(peer), { revision: "2025-11-25" })).rejects.toThrow(
      "the server supports 2025-06-18; this client supports 2025-11-25 (pinned)",
    );
  });

  test.each([
    ["2026-07-28", "server/discover"],
    ["2025-11-25", "initialize"],
  ])("%s is not reported as unsupported after an internal error of the server", async (revision, method) => {
    const peer = scriptedPeer();
    const connecting = openClient(peerTransports(peer), { revision });
    connecting.catch(() => {});
    peer.refuse(await peer.request(method), { code: -32603, message: "The store is out of reach." });
    await expect(connecting).rejects.toMatchObject({ code: -32603, message: "The store is out of reach." });
  });

  test("one that does not exist is rejected before a connection is opened", async () => {
    const dialer = peerTransports();
    await expect(openClient(dialer, { revision: "2025-12-01" })).rejects.toThrow(
      'The option revision is "2025-12-01", which is not a protocol revision. Use auto, 2026-07-28',
    );
    expect(dialer.opened).toBe(0);
  });
});

describe("a remembered revision", () => {
  const remembered = (...peers: Parameters<typeof peerTransports>): ReturnType<typeof peerTransports> =>
    Object.assign(peerTransports(...peers), { transient: false });

  test("is stored by target, so that a legacy server is probed once", async () => {
    const first = legacyPeer();
    const connecting = openClient(remembered(first));
    first.refuse(await first.request("server/discover"), refusal);
    await connecting;
    const second = legacyPeer();
    await openClient(remembered(second));
    expect(second.arrived[0]?.message).toMatchObject({ method: "initialize" });
  });

  test("is negotiated again after it fails", async () => {
    const first = legacyPeer();
    const connecting = openClient(remembered(first));
    first.refuse(await first.request("server/discover"), refusal);
    await connecting;
    const [second, third] = [scriptedPeer(), modernPeer()];
    const again = openClient(remembered(second, third));
    second.refuse(await second.request("initialize"), { code: -32601, message: "Supported: 2026-07-28" });
    expect((await again).server.revisionKind).toBe("modern");
  });

  test("is not used for another server with the same name", async () => {
    const named = (identity: string, ...peers: Parameters<typeof peerTransports>): ReturnType<typeof remembered> =>
      Object.assign(remembered(...peers), { identity });
    const first = legacyPeer();
    const connecting = openClient(named("in one folder", first));
    first.refuse(await first.request("server/discover"), refusal);
    await connecting;
    expect((await openClient(named("in another folder", modernPeer()))).server.revisionKind).toBe("modern");
    const again = legacyPeer();
    await openClient(named("in one folder", again));
    expect(again.arrived[0]?.message).toMatchObject({ method: "initialize" });
  });

  test.each(["legacy", "modern"])("(%s) is forgotten if connecting with it fails for any reason", async (kind) => {
    const clock = fakeClock();
    const first = kind === "legacy" ? legacyPeer() : modernPeer();
    const connecting = openClient(remembered(first));
    if (kind === "legacy") first.refuse(await first.request("server/discover"), refusal);
    await connecting;
    const silent = scriptedPeer();
    const failing = openClient(remembered(silent), { clock });
    failing.catch(() => {});
    await silent.next();
    await clock.advance(60_000);
    await expect(failing).rejects.toMatchObject({ code: "timeout" });
    const third = scriptedPeer();
    const detecting = openClient(remembered(third), { clock });
    const probe = await third.request("server/discover");
    await clock.advance(5_000);
    await third.request("initialize");
    third.answer(probe, discoverResult());
    expect((await detecting).server.revisionKind).toBe("modern");
  });

  test("is certain only after a second process has exited because of the modern request", async () => {
    const connectToDying = async (): Promise<void> => {
      const dying = scriptedPeer();
      const connecting = openClient(remembered(dying, legacyPeer()));
      await dying.request("server/discover");
      dying.close(new LocalError("exited", "exited with code 1"));
      expect((await connecting).server.revisionKind).toBe("legacy");
    };
    await connectToDying();
    await connectToDying();
    const third = legacyPeer();
    await openClient(remembered(third));
    expect(third.arrived[0]?.message).toMatchObject({ method: "initialize" });
  });

  test("is not derived from a process that exited once for another reason", async () => {
    const dying = scriptedPeer();
    const connecting = openClient(remembered(dying, legacyPeer()));
    await dying.request("server/discover");
    dying.close(new LocalError("exited", "killed by the signal SIGKILL"));
    await connecting;
    expect((await openClient(remembered(modernPeer()))).server.revisionKind).toBe("modern");
  });

  test("is not stored if the legacy response was only faster", async () => {
    const clock = fakeClock();
    const connecting = openClient(remembered(legacyPeer()), { clock });
    await clock.advance(5000);
    await connecting;
    const second = modernPeer();
    expect((await openClient(remembered(second), { clock })).server.revisionKind).toBe("modern");
  });
});

/** A peer whose transport takes until `release` to close. */
function slowToClose(): { peer: ScriptedPeer; release: () => void } {
  const peer = scriptedPeer();
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const close = async (): Promise<void> => {
    await released;
    await peer.transport.close();
  };
  return { peer: { ...peer, transport: { ...peer.transport, close } }, release };
}

test("an aborted connect rejects before its transport is closed", async () => {
  const { peer } = slowToClose();
  const controller = new AbortController();
  const connecting = openClient(peerTransports(peer), { signal: controller.signal });
  connecting.catch(() => {});
  await peer.request("server/discover");
  controller.abort();
  await expect(connecting).rejects.toMatchObject({ code: "aborted" });
});

test("close() of a reconnecting client rejects its calls and waits for the transport to close", async () => {
  const first = modernPeer();
  const { peer: second, release } = slowToClose();
  const client = await openClient(peerTransports(first, second));
  first.close();
  await flushPromises();
  const calling = client.callTool("a");
  calling.catch(() => {});
  await second.request("server/discover");
  let isClosed = false;
  const closing = client.close().then(() => (isClosed = true));
  await expect(calling).rejects.toMatchObject({ code: "closed" });
  await flushPromises();
  expect(isClosed).toBe(false);
  release();
  await closing;
});

test("the caller's signal aborts connecting and closes the transport", async () => {
  const peer = scriptedPeer();
  const controller = new AbortController();
  const connecting = openClient(peerTransports(peer), { signal: controller.signal });
  connecting.catch(() => {});
  await peer.request("server/discover");
  controller.abort(new Error("enough"));
  await expect(connecting).rejects.toMatchObject({ code: "aborted" });
  expect(peer.isClosed).toBe(true);
});

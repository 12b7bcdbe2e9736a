import { EventEmitter, getEventListeners, once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, type Socket, createServer as createTcpServer } from "node:net";
import { gzipSync, brotliCompressSync, createGzip, deflateSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connectionError } from "../../http/client/connection-error.ts";
import { createSender } from "./sender.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves on a port of the system. Records the connections and requests. */
async function serve(handle: Handler): Promise<{ url: URL; connections: Socket[]; requests: IncomingMessage[] }> {
  const connections: Socket[] = [];
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  server.on("connection", (socket: Socket) => connections.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), connections, requests };
}

/** Accepts connections without HTTP. */
async function accept(handle: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    handle(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (body = "{}"): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", "x-team": "a" },
  body,
});
const echo: Handler = (request, response) => void request.pipe(response);
const patient = { roundMs: 60_000 };

async function closeOf(connection: Socket | undefined): Promise<void> {
  if (connection?.destroyed === false) await once(connection, "close");
}

async function failureOf(sending: Promise<unknown>): Promise<Error & { code?: string; syscall?: string }> {
  return sending.then(
    () => new Error("no failure"),
    (error: unknown) => error as Error,
  );
}

describe("a request", () => {
  test("arrives with its method, headers and body, and its response has status, headers and body", async () => {
    const { url, requests } = await serve((request, response) => {
      response.writeHead(418, "I am a teapot", { "x-many": ["1", "2"] });
      request.pipe(response);
    });
    const response = await createSender()(url, post('{"größe":1}'));
    expect(response.status).toBe(418);
    expect(response.statusText).toBe("I am a teapot");
    expect(response.headers.get("x-many")).toBe("1, 2");
    expect(await response.text()).toBe('{"größe":1}');
    expect(requests[0]?.method).toBe("POST");
    expect(requests[0]?.url).toBe("/mcp");
    expect(requests[0]?.headers).toMatchObject({ "x-team": "a", "user-agent": "node", "content-length": "13" });
  });

  test("is not repeated at the target of a redirect", async () => {
    const { url, requests } = await serve((_, response) => response.writeHead(307, { location: "/other" }).end());
    const response = await createSender()(url, post());
    expect(response.status).toBe(307);
    expect(response.headers.get("location")).toBe("/other");
    expect(requests.length).toBe(1);
  });

  test.each([204, 304])("with status %i has no body", async (status) => {
    const { url } = await serve((_, response) => response.writeHead(status).end());
    expect((await createSender()(url, post())).body).toBeNull();
  });

  test("has the status of the server, also one that no standard defines", async () => {
    const at = await accept((socket) =>
      socket.once("data", () => socket.write("HTTP/1.1 999 x\r\ncontent-length: 0\r\n\r\n")),
    );
    const { ok, status } = await createSender()(new URL(`http://${at}/`), post());
    expect({ ok, status }).toEqual({ ok: false, status: 999 });
  });

  test("skips provisional responses", async () => {
    const at = await accept((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
      ),
    );
    const reply = await createSender()(new URL(`http://${at}/`), post());
    expect([reply.status, await reply.text()]).toEqual([200, "ok"]);
  });
});

describe("the body of a response", () => {
  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("is decoded if it is compressed with %s", async (encoding, compress) => {
    const { url } = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(compress("hello")),
    );
    expect(await (await createSender()(url, post())).text()).toBe("hello");
  });

  test("is decoded twice if it is compressed twice", async () => {
    const { url } = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip, br" }).end(brotliCompressSync(gzipSync("hello"))),
    );
    expect(await (await createSender()(url, post())).text()).toBe("hello");
  });

  test("is decoded if it names three encodings, and empty ones beside them", async () => {
    const { url } = await serve((_, response) =>
      response
        .writeHead(200, { "content-encoding": "gzip, , identity,br," })
        .end(brotliCompressSync(gzipSync("hello"))),
    );
    expect(await (await createSender()(url, post())).text()).toBe("hello");
  });

  test.each([
    ["four", "gzip, identity, x-own, gzip"],
    ["thousands", Array(2_000).fill("gzip").join(",")],
    ["hundreds of empty ones and four", `${",".repeat(500)}br,br,br,br`],
  ])("is refused if it names %s encodings, and the next request is answered", async (_, encodings) => {
    let isFirst = true;
    const { url } = await serve((_request, response) => {
      response.writeHead(200, isFirst ? { "content-encoding": encodings } : {}).end("hello");
      isFirst = false;
    });
    const send = createSender();
    await expect(send(url, post())).rejects.toMatchObject({ code: "too_large", data: { limit: 3 } });
    expect(await (await send(url, post())).text()).toBe("hello");
  });

  test("is not decoded if its encoding is unknown", async () => {
    const { url } = await serve((_, response) => response.writeHead(200, { "content-encoding": "x-own" }).end("hello"));
    expect(await (await createSender()(url, post())).text()).toBe("hello");
  });

  test("of a compressed stream is delivered while the stream is open", async () => {
    const gzip = createGzip();
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/event-stream" });
      gzip.pipe(response);
      gzip.write("data: 1\n\n");
      gzip.flush();
    });
    const reader = (await createSender()(url, post())).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    gzip.end("data: 2\n\n");
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 2\n\n");
    expect((await reader?.read())?.done).toBe(true);
  });

  test("fails if its compressed data is damaged", async () => {
    const { url } = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip at all"),
    );
    await expect((await createSender()(url, post())).text()).rejects.toThrow();
  });

  test("fails if the connection is cut in it", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      response.on("drain", () => {});
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    const error = await failureOf(createSender()(url, post()).then((response) => response.text()));
    expect(error.message).not.toBe("no failure");
  });

  test("rejects with the error of onReceived, and ends the connection", async () => {
    const { url, connections } = await serve((_, response) => {
      response.writeHead(200);
      response.write("first");
    });
    const onReceived = (): void => {
      throw new Error("enough");
    };
    const response = await createSender()(url, { ...post(), onReceived });
    const closed = closeOf(connections[0]);
    expect(await failureOf(response.text())).toMatchObject({ message: "enough" });
    await closed;
  });

  test("ends the connection if it is cancelled", async () => {
    const { url, connections } = await serve((_, response) => {
      response.writeHead(200);
      response.write("first");
    });
    const response = await createSender()(url, post());
    const closed = closeOf(connections[0]);
    await response.body?.cancel();
    await closed;
  });
});

describe("connections", () => {
  test("do not exceed maxConnections", async () => {
    const { url, connections } = await serve(echo);
    const send = createSender({ ...patient, connection: { maxConnections: 3 } });
    await Promise.all(Array.from({ length: 100 }, async () => (await send(url, post())).text()));
    expect(connections).toHaveLength(3);
  });

  test.each([
    ["maxConnections", 0],
    ["maxConnections", 1.5],
    ["maxWaitMs", -1],
    ["maxWaitMs", Number.NaN],
  ])("are refused with %s %d", (name, value) => {
    expect(() => createSender({ connection: { [name]: value } })).toThrow(
      `connection.${name} must be a whole number above 0; got ${value}.`,
    );
  });

  test("are reused for one request after another", async () => {
    const { url, connections } = await serve(echo);
    const send = createSender();
    for (let i = 0; i < 5; i++) await (await send(url, post(String(i)))).text();
    expect(connections).toHaveLength(1);
  });

  test("do not exceed the limit for a burst of requests, each of which is answered", async () => {
    const { url, connections } = await serve(echo);
    const send = createSender({ ...patient, burst: 16 });
    const texts = Array.from({ length: 1_000 }, async (_, i) => (await send(url, post(String(i)))).text());
    expect(await Promise.all(texts)).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)));
    expect(connections.length).toBeLessThanOrEqual(16);
  });

  test("are few for 2,000 requests by default", async () => {
    const { url, connections } = await serve(echo);
    const send = createSender(patient);
    await Promise.all(Array.from({ length: 2_000 }, async () => (await send(url, post())).text()));
    // On a busy machine some requests count as slow.
    expect(connections.length).toBeLessThan(256);
  });

  test("that are idle are closed, and those that wait for a response are not", async () => {
    let slow: ServerResponse | undefined;
    const { url, connections } = await serve((request, response) => {
      if (request.method === "GET") slow = response;
      else response.end("quick");
    });
    const send = createSender({ idleMs: 20, maxIdleMs: 20 });
    const silent = send(url, { method: "GET", headers: {} });
    await expect.poll(() => slow !== undefined).toBe(true);
    const [first] = connections;
    await (await send(url, post())).text();
    await closeOf(connections[1]);
    expect(first?.destroyed).toBe(false);
    slow?.end("slow");
    expect(await (await silent).text()).toBe("slow");
  });
});

test("a response may start after more than fifteen minutes, and its stream may be silent as long", async () => {
  // The timers of the system's connections are not faked.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  closers.push(() => vi.useRealTimers());
  const asked = new EventEmitter<{ request: [ServerResponse] }>();
  const { url } = await serve((_, response) => asked.emit("request", response));
  const received = once(asked, "request");
  const sending = createSender()(url, post());
  const [response] = (await received) as [ServerResponse];
  vi.advanceTimersByTime(15 * 60_000 + 1);
  response.write("data: 1\n\n");
  const reader = (await sending).body?.getReader();
  await reader?.read();
  vi.advanceTimersByTime(15 * 60_000 + 1);
  response.end("data: 2\n\n");
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 2\n\n");
});

describe("a request that is not answered", () => {
  const hanging: Handler = (request, response) => {
    if (request.method === "POST") response.end("done");
  };
  const hang = { method: "PUT", headers: {} };

  test("does not delay others", async () => {
    const { url } = await serve(hanging);
    const send = createSender({ burst: 2, roundMs: 10 });
    for (let i = 0; i < 6; i++) send(url, hang).catch(() => {});
    expect(await (await send(url, post())).text()).toBe("done");
  });

  test("does not delay a request of high priority", async () => {
    const { url } = await serve(hanging);
    const send = createSender({ ...patient, burst: 1 });
    send(url, hang).catch(() => {});
    expect(await (await send(url, { ...post(), priority: "high" })).text()).toBe("done");
  });

  test("does not delay requests to another origin", async () => {
    const [one, other] = [await serve(hanging), await serve(hanging)];
    const send = createSender({ ...patient, burst: 1 });
    send(one.url, hang).catch(() => {});
    expect(await (await send(other.url, post())).text()).toBe("done");
  });

  test("no longer counts when it is aborted", async () => {
    const { url } = await serve(hanging);
    const send = createSender({ ...patient, burst: 1 });
    const controller = new AbortController();
    const first = failureOf(send(url, { ...hang, signal: controller.signal }));
    const second = send(url, post());
    controller.abort(new Error("enough"));
    expect(await first).toMatchObject({ message: "enough" });
    expect(await (await second).text()).toBe("done");
  });
});

describe("an abort", () => {
  test("while the connection is opened closes it", async () => {
    let connected: (socket: Socket) => void = () => {};
    const connection = new Promise<Socket>((resolve) => (connected = resolve));
    // Nothing answers the handshake of TLS.
    const at = await accept((socket) => connected(socket));
    const controller = new AbortController();
    const failure = failureOf(createSender()(new URL(`https://${at}/`), { ...post(), signal: controller.signal }));
    const socket = await connection;
    const closed = closeOf(socket.resume());
    controller.abort(new Error("enough"));
    expect(await failure).toMatchObject({ message: "enough" });
    await closed;
  });

  test("before the request sends nothing", async () => {
    const { url, connections } = await serve(echo);
    const signal = AbortSignal.abort(new Error("enough"));
    expect(await failureOf(createSender()(url, { ...post(), signal }))).toMatchObject({ message: "enough" });
    expect(connections).toHaveLength(0);
  });

  test("while the request waits for others sends nothing", async () => {
    const { url, requests } = await serve((request, response) => {
      if (request.method === "POST") response.end("done");
    });
    const send = createSender({ ...patient, burst: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const hung = failureOf(send(url, { method: "PUT", headers: {}, signal: first.signal }));
    const waiting = failureOf(send(url, { method: "DELETE", headers: {}, signal: second.signal }));
    second.abort(new Error("enough"));
    expect(await waiting).toMatchObject({ message: "enough" });
    first.abort(new Error("also"));
    await hung;
    await (await send(url, post())).text();
    expect(requests.map(({ method }) => method)).not.toContain("DELETE");
  });

  test("during the response rejects its body with the reason and closes the connection", async () => {
    const { url, connections } = await serve((_, response) => {
      response.writeHead(200);
      response.write("first");
    });
    const controller = new AbortController();
    const response = await createSender()(url, { ...post(), signal: controller.signal });
    const closed = closeOf(connections[0]);
    const text = failureOf(response.text());
    controller.abort(new Error("enough"));
    expect(await text).toMatchObject({ message: "enough" });
    await closed;
  });

  test("leaves no listener on a signal that many requests share, and causes no warning", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    closers.push(() => process.off("warning", warned));
    const { url } = await serve(echo);
    const send = createSender({ burst: 20 });
    const { signal } = new AbortController();
    const texts = Array.from({ length: 50 }, async () => (await send(url, { ...post(), signal })).text());
    await Promise.all(texts);
    await expect.poll(() => getEventListeners(signal, "abort").length === 0).toBe(true);
    expect(warned).not.toHaveBeenCalled();
  });
});

describe("a failure", () => {
  const url = new URL("https://example.com/");
  const codeOf = (error: Error): string => connectionError(url, error).code;

  test("to connect is unreachable: nothing listens", async () => {
    const at = await accept(() => {});
    await closers.pop()?.();
    const error = await failureOf(createSender()(new URL(`http://${at}/`), post()));
    expect(error.code).toBe("ECONNREFUSED");
    expect(error.syscall).toBe("connect");
    expect(codeOf(error)).toBe("unreachable");
  });

  test("of the TLS handshake is unreachable: the port has no TLS", async () => {
    const { url: plain } = await serve(echo);
    const error = await failureOf(createSender()(new URL(`https://${plain.host}/`), post()));
    expect(codeOf(error)).toBe("unreachable");
  });

  test("of the TLS handshake is unreachable: the connection is reset in it", async () => {
    const at = await accept((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const error = await failureOf(createSender()(new URL(`https://${at}/`), post()));
    expect(error.code).toBe("ECONNRESET");
    expect(codeOf(error)).toBe("unreachable");
  });

  test("to connect in time is unreachable", async () => {
    const at = await accept(() => {});
    const error = await failureOf(createSender({ connectMs: 20 })(new URL(`https://${at}/`), post()));
    expect(codeOf(error)).toBe("unreachable");
  });

  test.each([
    ["a reset", (socket: Socket) => void socket.resetAndDestroy()],
    ["an end without a response", (socket: Socket) => void socket.end()],
    ["a response that is not HTTP", (socket: Socket) => void socket.write("oops\r\n\r\n")],
    [
      "a switch of protocols",
      (socket: Socket) =>
        void socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    ],
  ])("after the request was sent is closed: %s", async (_, answer) => {
    let sent = 0;
    const at = await accept((socket) => {
      socket.once("data", () => {
        sent++;
        answer(socket);
      });
    });
    const error = await failureOf(createSender()(new URL(`http://${at}/`), post()));
    expect(codeOf(error)).toBe("closed");
    expect(sent).toBe(1);
  });

  test("to send the rest of a body, after the response, is no uncaught exception, and the connection is closed", async () => {
    const uncaught = vi.fn<(error: Error) => void>();
    process.on("uncaughtException", uncaught);
    closers.push(() => process.off("uncaughtException", uncaught));
    let connection: Socket | undefined;
    const host = await accept((socket) => {
      connection = socket;
      socket.once("data", () => {
        socket.pause();
        socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
      });
    });
    const response = await createSender()(new URL(`http://${host}/mcp`), post("x".repeat(16 * 1024 * 1024)));
    expect([response.status, await response.text()]).toEqual([413, "too large"]);
    const closed = new Promise((resolve) => connection?.once("close", resolve));
    connection?.resume();
    await closed;
    expect(uncaught.mock.calls).toEqual([]);
  });

  test(
    "to send the rest of a body, after the response, leaves the connection to no other request",
    { timeout: 30_000 },
    async () => {
      const sockets: Socket[] = [];
      const host = await accept((socket) => {
        sockets.push(socket);
        socket.once("data", () => {
          // The first connection reads nothing more. A second request on it would wait without end.
          if (sockets.length === 1) socket.pause();
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
      });
      const send = createSender();
      const url = new URL(`http://${host}/mcp`);
      expect(await (await send(url, post("x".repeat(30 * 1024 * 1024)))).text()).toBe("ok");
      expect(await (await send(url, post())).text()).toBe("ok");
      expect(sockets).toHaveLength(2);
    },
  );

  test("of a reused connection is closed, and the request is not repeated", async () => {
    const received: string[] = [];
    const at = await accept((socket) => {
      socket.on("data", (data) => {
        received.push(String(data).split("\r\n\r\n")[1] ?? "");
        if (received.length === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        else socket.resetAndDestroy();
      });
    });
    const send = createSender();
    const to = new URL(`http://${at}/`);
    await (await send(to, post("first"))).text();
    const error = await failureOf(send(to, post("second")));
    expect(error.code).toBe("ECONNRESET");
    expect(codeOf(error)).toBe("closed");
    expect(received).toEqual(["first", "second"]);
  });
});

import { createServer } from "mcparley/server";
import { serveStdio, streamTransport } from "mcparley/stdio";

export const serve = () => serveStdio(createServer({ name: "x", version: "1" }));
export const overStreams = (...given: Parameters<typeof streamTransport>) => streamTransport(...given);

#!/usr/bin/env node
import { serveStdio } from "mcparley/stdio";
import { server } from "./server.ts";

// Write logs with console.log or console.error: both go to stderr, because stdout carries the protocol.
await serveStdio(server);

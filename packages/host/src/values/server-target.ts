import type { CommandTarget, HttpTarget, InProcessServer } from "mcparley/client";

/** The address of a server: a URL, a command to start, or a server in this process. */
export type ServerTarget = string | URL | CommandTarget | HttpTarget | InProcessServer;

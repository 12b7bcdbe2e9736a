import type { CompleteResult, GetPromptResult, LocalErrorCode, ReadResourceResult } from "mcparley";
import type {
  CallToolResult,
  CreateMessageParams,
  CreateMessageResult,
  LoggingMessage,
  ServerInfo,
} from "mcparley/client";
import { expectTypeOf } from "vitest";
import type { CallActivity } from "../activity/active-calls.ts";
import type { Catalogue, ServerLists } from "../catalogue/catalogue.ts";
import type { Attachment, ConversationJson, UserCall } from "../context/conversation-context.ts";
import type { ToolOutcome } from "../conversation/messages.ts";
import type { HostEvent } from "../host/host.ts";
import type { RunEvent } from "../loop/run-events.ts";
import type { ModelPart, ModelRequest } from "../model/model-request.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { wordsOfTypes } from "./structure-words.ts";

type Host = HostEvent | RunEvent | CallActivity | ToolOutcome | ModelPart | ModelRequest | Catalogue | ServerLists;
type Context = ConversationJson | Attachment | UserCall | Parameters<NonNullable<Renderer[keyof Renderer]>>[0];
type Results = CallToolResult | CreateMessageResult | CompleteResult | GetPromptResult | ReadResourceResult;
type Others = ServerInfo | CreateMessageParams | LoggingMessage | LocalErrorCode;

/** The level above each level. Types contain themselves. */
type Above = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
/** A text whose value the type states. */
type Known<T> = T extends string ? (string extends T ? never : T) : never;
type Opaque = ((...values: never[]) => unknown) | Error | AbortSignal | Uint8Array;

/** The names of the members of a type, and its literal texts. */
type WordsOf<T, Level extends number = 9> = Level extends 0
  ? never
  : T extends string
    ? Known<T>
    : T extends Opaque
      ? never
      : T extends readonly (infer Item)[]
        ? WordsOf<Item, Above[Level]>
        : T extends object
          ? { [Name in keyof T]-?: Known<Name> | WordsOf<T[Name], Above[Level]> }[keyof T]
          : never;

/** Texts as long as a secret. */
type Long<T extends string> = T extends `${infer _1}${infer _2}${infer _3}${infer _4}${infer _5}${infer Rest}`
  ? Rest extends ""
    ? never
    : T
  : never;

type Lines<T extends string> = T extends `${infer Line}\n${infer Rest}` ? Words<Line> | Lines<Rest> : Words<T>;
type Words<T extends string> = T extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : T;

// A new member or kind does not compile until it is listed.
expectTypeOf<Exclude<Long<WordsOf<Host | Context | Results | Others>>, Lines<typeof wordsOfTypes>>>().toBeNever();
expectTypeOf<Exclude<Lines<typeof wordsOfTypes>, Long<WordsOf<Host | Context | Results | Others>> | "">>().toBeNever();

import { expect, test } from "vitest";
import type { HttpConnection } from "../../http/client/settings.ts";
import { type AuthorizationCore, connectionFor } from "./grant.ts";

const ofServer: HttpConnection = { proxy: "http://proxy.example" };
const ofOption: HttpConnection = { proxy: "http://other.example" };

test.each<[string, HttpConnection | undefined, HttpConnection | undefined, HttpConnection | undefined]>([
  ["of the server", undefined, ofServer, ofServer],
  ["of the option, also if the server has others", ofOption, ofServer, ofOption],
  ["of nothing", undefined, undefined, undefined],
])("the authorization requests for a server use the connection settings %s", (_, option, connection, expected) => {
  const options = option ? { connection: option } : {};
  expect(connectionFor({ options, connection } as AuthorizationCore)).toBe(expected);
});

import { type OAuth, type SignIn, oauth } from "mcparley/auth";

/** The redirect URI for the suite's authorization servers. No server listens there. */
const redirectUri = "http://localhost:3000/callback";

/** A person who consents to everything: the suite's authorization servers redirect at once, without a page. */
const consenting: SignIn = {
  prepare: () =>
    Promise.resolve({
      redirectUri,
      visit: async (url, signal) => {
        const { status, headers } = await fetch(url, { redirect: "manual", signal });
        const location = headers.get("location");
        if (location === null) throw new Error(`The authorization server answered ${status} and does not redirect.`);
        return new URL(location, url);
      },
      close: () => Promise.resolve(),
    }),
};

interface Context {
  client_id?: string;
  client_secret?: string;
}

/** Returns the authorization that a scenario requires, with the credentials of the scenario. */
export function authorize(scenario: string, context: Context): OAuth {
  const { client_id: id, client_secret: secret } = context;
  return oauth({
    signIn: consenting,
    clientName: "mcparley conformance client",
    // Servers of the suite whose metadata is at the root publish their origin.
    acceptResource: () => true,
    dpop: scenario.startsWith("auth/dpop"),
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(scenario === "auth/pre-registration" &&
      id !== undefined && { client: { id, ...(secret !== undefined && { secret }) } }),
  });
}

/** A browser whose user signs in and consents on each page that requires it. */
export interface Browser {
  /** The submitted pages by their kind: `login` or `consent`. */
  readonly submitted: string[];
  /**
   * Visits a page of an authorization server and completes its pages until they redirect to another origin: the redirect URI of a client, which is returned and not visited.
   */
  signIn(url: string | URL): Promise<URL>;
}

interface BrowserOptions {
  user: string;
  /** The answer of the user to a consent page. True unless given. */
  consents?: boolean;
}

/** Creates a browser that stores the cookies of one authorization server, so that a second sign-in only asks for new scopes. */
export function browserOf({ user, consents = true }: BrowserOptions): Browser {
  const cookies = new Map<string, string>();
  const submitted: string[] = [];

  async function load(url: URL, form?: URLSearchParams): Promise<Response> {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form && { method: "POST", body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) keep(cookies, cookie);
    return response;
  }

  async function answer(page: string, at: URL): Promise<[URL, URLSearchParams?]> {
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (!prompt || !action) throw new Error(`The authorization server shows something else: ${page.slice(-500)}`);
    submitted.push(prompt);
    if (prompt === "consent" && !consents) return [new URL(`${at.pathname}/abort`, at)];
    return [new URL(action, at), new URLSearchParams({ prompt, login: user, password: "any" })];
  }

  return {
    submitted,
    async signIn(start) {
      const { origin } = new URL(start);
      let url = new URL(start);
      let form: URLSearchParams | undefined;
      for (let page = 0; page < 20; page++) {
        const response = await load(url, form);
        const location = response.headers.get("location");
        const body = await response.text();
        if (location !== null) [url, form] = [new URL(location, url), undefined];
        else [url, form] = await answer(body, url);
        if (url.origin !== origin) return url;
      }
      throw new Error("The authorization server goes around in a circle.");
    },
  };
}

function keep(cookies: Map<string, string>, setCookie: string): void {
  const [pair = ""] = setCookie.split(";");
  const [name = "", ...value] = pair.split("=");
  if (/expires=Thu, 01 Jan 1970/i.test(setCookie)) cookies.delete(name);
  else cookies.set(name, value.join("="));
}

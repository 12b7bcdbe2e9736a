/** A browser whose user signs in and consents on each page that requires it: pages of `oidc-provider` and of Keycloak. */
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
  let last: Promise<unknown> = Promise.resolve();

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
    const form = readForm(page);
    const kind = form?.fields.get("prompt") ?? (form?.fields.has("accept") ? "consent" : "login");
    // The page of a failed sign-in of Keycloak has the form again, with the reason.
    const [, reason] =
      /(?:kc-error-message|kc-feedback-text|id="input-error-(?!container))[^>]*>([\s\S]*?)<\/(?:p|span)>/.exec(page) ??
      [];
    // A user whose session has ended during the sign-in signs in again.
    const isOver = reason !== undefined && !/start from the beginning/.test(reason);
    if (!form || isOver) {
      throw new Error(`The authorization server shows something else: ${textOf(reason ?? page).slice(-500)}`);
    }
    const { action, fields } = form;
    submitted.push(kind);
    if (kind === "consent" && !consents && !fields.has("cancel")) return [new URL(`${at.pathname}/abort`, at)];
    fields.delete(kind === "consent" && !consents ? "accept" : "cancel");
    for (const name of ["login", "username"]) if (fields.has(name)) fields.set(name, user);
    if (fields.has("password")) fields.set("password", "any");
    return [new URL(action, at), fields];
  }

  return {
    submitted,
    // A person completes one sign-in after the other.
    signIn(start) {
      const signedIn = last.then(() => complete(start));
      last = signedIn.catch(() => {});
      return signedIn;
    },
  };

  async function complete(start: string | URL): Promise<URL> {
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
  }
}

function keep(cookies: Map<string, string>, setCookie: string): void {
  const [pair = ""] = setCookie.split(";");
  const [name = "", ...value] = pair.split("=");
  if (/expires=Thu, 01 Jan 1970|max-age=0\b/i.test(setCookie)) cookies.delete(name);
  else cookies.set(name, value.join("="));
}

/** Returns the form of a page, with the fields and buttons that it submits. */
function readForm(page: string): { action: string; fields: URLSearchParams } | undefined {
  const [, action, content = ""] = /<form\b[^>]*? action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? [];
  if (action === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [tag] of content.matchAll(/<(?:input|button)\b[^>]*>/g)) {
    const attribute = (name: string): string => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
    if (attribute("name") && attribute("type") !== "checkbox")
      fields.set(attribute("name"), unescaped(attribute("value")));
  }
  return { action: unescaped(action), fields };
}

function textOf(html: string): string {
  return unescaped(html.replaceAll(/<(?:script|style)[\s\S]*?<\/(?:script|style)>|<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}

import { Declined } from "mcparley";
import { type OAuth, type ResourceOffer, oauth } from "mcparley/auth";
import type { HttpConnection } from "mcparley/client";
import { safeUrl } from "@mcparley/internal/secret-values";
import { UsageError } from "../../terminal/io.ts";
import { choose } from "../../terminal/questions/choose.ts";
import { isAttended, talk } from "../../terminal/questions/prompter.ts";
import { paragraph } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";
import { type KnownTarget, withTarget, withoutUrlSecrets } from "../known-target.ts";
import { withOptionNames } from "../option-names.ts";
import { type CredentialsPlace, credentialsPlace } from "./credentials-place.ts";
import { type ChosenClient, openStorage, readClient, rememberClient } from "./credentials.ts";
import type { SignInOptions } from "./options.ts";
import { isClientRefusal, renewalRefusal } from "./refused-access.ts";
import { type SignInSetting, signInWay } from "./sign-in-way.ts";

export interface AuthorizationSetting extends SignInSetting {
  readonly options: SignInSetting["options"] & SignInOptions & { readonly verbose: boolean };
  /** The facts of the command, with its target. */
  readonly facts: { readonly target?: KnownTarget };
  readonly server: string;
  /** The proxy and the certificates of the options. */
  readonly connection: HttpConnection | undefined;
}

export interface OpenAuthorization {
  readonly oauth: OAuth;
  readonly place: CredentialsPlace;
  /** Remembers the client from the options or from the login. A dynamically registered client is not remembered. */
  rememberClient(this: void): Promise<void>;
  forgetClient(this: void): Promise<void>;
}

/** Opens the authorization at a server, with the client from the options or from the login. */
export async function openAuthorization(setting: AuthorizationSetting): Promise<OpenAuthorization> {
  const { io, screen, options, server, connection } = setting;
  const typedClient = clientOfOptions(setting);
  const place = credentialsPlace(io, options.keychain);
  const safe = (text: string): string => withoutUrlSecrets(withOptionNames(text), server);
  const noteDetail = (text: string): void => screen.note(screen.err.style.dim(visibleLine(safe(text))));
  const storage = await openStorage(place, screen);
  const client = typedClient ?? (options.newClient ? undefined : await readClient(storage, server));
  const redirectUri = client?.redirectUri;
  const waitingHint = client
    ? undefined
    : withTarget(newClientHint, {
        word: server,
        command: undefined,
        headerNames: [],
        options: setting.facts.target?.options ?? [],
      });
  let reason: string | undefined;
  const onStep = (step: string): void => {
    if (renewalRefusal(step) !== undefined) reason = safe(step);
    if (options.verbose) noteDetail(step);
  };
  const signIn = signInWay({ ...setting, redirectUri, waitingHint, reason: () => reason });
  const { issuer = client?.issuer, scope } = options;
  return {
    place,
    rememberClient: () => rememberClient(storage, server, client),
    forgetClient: () => rememberClient(storage, server, undefined),
    oauth: oauth({
      storage,
      signIn,
      ...(client && { client }),
      ...(redirectUri !== undefined && { redirectUri }),
      ...(issuer !== undefined && { issuer }),
      ...(scope !== undefined && { scope }),
      offlineAccess: !options.noOffline,
      // The library binds the tokens of later sign-ins if the stored tokens are bound.
      ...(options.dpop && { dpop: true }),
      ...(connection && { connection }),
      acceptResource: (offer) => acceptResource(offer, setting),
      onStep,
      onError(error) {
        // The page of the sign-in opens again, so the user must know why.
        if (isClientRefusal(error) || error.message.includes("sign-in starts again"))
          screen.note(paragraph(safe(error.message), screen.err));
        else if (options.verbose) noteDetail(error.message);
      },
    }),
  };
}

/** Shown while a sign-in waits for the browser. An authorization server does not redirect the user of an unknown client. */
const newClientHint =
  "Nothing has returned from the browser yet. If its page names an unknown client, press Ctrl-C and register another one: mcparley login TARGET --new-client. For other errors of the page, such as a disabled account, ask the administrator of your account.";

function clientOfOptions(setting: AuthorizationSetting): ChosenClient | undefined {
  const { io, options } = setting;
  const { clientId: id, clientSecretEnv, redirectUri, issuer, newClient } = options;
  if (id !== undefined && newClient) {
    throw new UsageError("--new-client registers a client, so it cannot be used with --client-id.");
  }
  if (id === undefined) {
    if (clientSecretEnv === undefined && redirectUri === undefined) return undefined;
    const option = clientSecretEnv === undefined ? "--redirect-uri" : "--client-secret-env";
    throw new UsageError(`${option} needs the client too: add --client-id ID.`);
  }
  checkRedirectUri(redirectUri, setting);
  const secret = clientSecretEnv === undefined ? undefined : io.env[clientSecretEnv];
  if (clientSecretEnv !== undefined && !secret) {
    throw new UsageError(`The environment variable ${clientSecretEnv}, which --client-secret-env names, is not set.`);
  }
  return {
    id,
    ...(secret !== undefined && { secret }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(issuer !== undefined && { issuer }),
  };
}

/** The URLs at which this command can listen for a redirect. */
const loopbackUri = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::(\d+))?(?:\/(?:[^/?#][^?#]*)?)?$/;

/** Throws `UsageError` for a redirect URI that the sign-in cannot use. A pasted one may be any URL. */
function checkRedirectUri(redirectUri: string | undefined, setting: AuthorizationSetting): void {
  if (redirectUri === undefined) return;
  if (!URL.canParse(redirectUri)) {
    throw new UsageError(`--redirect-uri must be a URL, not ${JSON.stringify(redirectUri)}.`);
  }
  const [match, port = "1024"] = loopbackUri.exec(redirectUri) ?? [];
  const canListen = match !== undefined && Number(port) >= 1024 && Number(port) <= 65_535;
  if (canListen || (setting.options.noBrowser && isAttended(setting))) return;
  throw new UsageError(
    `This command cannot listen at --redirect-uri ${JSON.stringify(redirectUri)}. Use http on 127.0.0.1, [::1] or localhost, with any path, ` +
      "without a query, and without a port or with one from 1024 to 65535.",
    "For another URL, use --no-browser at a terminal, and paste the address at which the browser ends.",
  );
}

/**
 * Decides whether to request tokens for an identifier that is shorter than the URL of the server: by `--resource`, or by the
 * user at the terminal. Throws `Declined` if the user declines.
 */
async function acceptResource({ server, resource }: ResourceOffer, setting: AuthorizationSetting): Promise<boolean> {
  const { options, screen, stop } = setting;
  if (options.resource !== undefined) return resource === options.resource;
  if (!isAttended(setting)) return false;
  const lines = [
    `${visibleLine(safeUrl(server))} asks for a token for all of ${visibleLine(safeUrl(resource))}.`,
    "Such a token may also be valid at other servers there, and this server could use it in your name.",
  ];
  const isAccepted = await talk(setting, stop.signal, (prompter) => {
    for (const line of lines) prompter.say(paragraph(line, screen.err));
    return choose("Sign in for this token? [y]es or [n]o? ", { y: true, n: false }, prompter);
  });
  if (isAccepted) return true;
  throw new Declined(`You declined a token for all of ${visibleLine(safeUrl(resource))}.`);
}

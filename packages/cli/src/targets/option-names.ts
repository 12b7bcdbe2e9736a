/** The words of the library for its options in messages, and the options of the command. An empty text removes a cure that no option has. */
const optionNames: readonly (readonly [words: RegExp, option: string])[] = [
  [/\bconnection\.proxy\b/g, "--proxy"],
  [/\bconnection\.ca\b/g, "--cacert"],
  [/\bconnection\.cert\b/g, "--cert"],
  [/\bconnection\.key\b/g, "--key"],
  [/\bconnection\.passphrase\b/g, "--key-passphrase-env"],
  [/\bset PATH in env\b/g, "pass another PATH with --env"],
  [/\bin the option `headers`/g, "with --header"],
  [/\bthe option `issuer`/g, "--issuer"],
  [/\bset the option `acceptResource`/g, "accept it with --resource"],
  [
    /\bRegister a client manually and set client: \{ id, issuer: "[^"]*" \}\./g,
    "Register a client manually, and use it with --client-id.",
  ],
  [/ Or set clientMetadataUrl to the URL of a document that describes the client\./g, ""],
  [/\bset the option `?client`?(?!\w)/g, "use it with --client-id"],
  [
    /\bCheck the id, the secret and the method of the option `client`/g,
    "Check the values of --client-id and --client-secret-env",
  ],
  [/\bthe option client is registered with\b/g, "the client of --client-id is registered with"],
  [/ Set the option resource to an identifier that this server knows, or to false to send none\./g, ""],
  [/ Set dpop: false to accept it\./g, " Sign out, and sign in without --dpop."],
  [/ Set allowPrivateNetwork: true (?:if this is intended|to allow this)\./g, ""],
  [/\bSet the option `open` to show the URL, or use `pastedSignIn`\./g, "Show the URL with --no-browser."],
  [/ Call `signIn` of the authorization to sign in\./g, ""],
  [/\bthe option revision\b/gi, "--revision"],
];

/** Replaces the names of options in an error of the library by those of the command. */
export function withOptionNames(text: string): string {
  return optionNames.reduce((message, [words, option]) => message.replace(words, option), text);
}

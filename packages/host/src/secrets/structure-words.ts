/**
 * The names of members and the values of discriminators in everything that leaves a host, from its public types. Shorter ones than a
 * secret are left out.
 */
export const wordsOfTypes = `
  aborted activity address_unavailable allowed allServers annotations answered approval approved arguments argumentsHash assistant
  attachments audience authorization_failed before boolean cacheReadTokens cacheScope cacheWriteTokens callId cancelled capabilities
  catalogue change changed changes choice choices claims closed command completed completion configuration connecting content
  content-filter contentHash contents contextOf costPriority createdAt critical current decision declined definition denied description
  destructiveHint differences disabled during editedArguments effect elicitation emergency envFile environment executable exited failed
  fields filename filtered finish forbidden_url format hasMore headers idempotentHint identity in-process includeContext initial
  input-request input_required inputSchema inputTokens instructions intelligencePriority invalid_definition invalid_message invalid_result
  invalid_target isCached isEdited isError isEstimated isFollowed isInteger isRequired isStale issuer keyword lastModified lastUpdatedAt
  legacy length listedAt logger looser maximum maxItems maxLength maxOutputTokens maxTokens maxTries mayHaveRun mediaType message messages
  metadata mimeType minimum minItems minLength mismatch missingScopes modelPreferences modern narrower needs-sign-in nextTry no-renderer
  not_capable notice number openWorldHint options origin origins outcome outputSchema outputTokens pattern person pollIntervalMs previous
  priority private program progress prompt prompts providerData public readOnlyHint reason reasoning reasoningTokens remarks remembered
  removed renamed request required resource resource_link resources result retryAt revision revisionKind sampling scopes server
  session_lost sign-in sign_in_failed sign_in_required signal speedPriority status statusMessage stopReason stopSequences store_unavailable
  structuredContent subject supportedVersions system systemPrompt taskId temperature template templates thisServer timeout tokens
  tokensLeft too_large tool-call tool-calls tool-result tool_result tool_use toolChoice toolUseId unanswered unauthorized unreachable
  unreviewed unsupported_revision unusable_storage updated uriTemplate values version waiting warning websiteUrl working
`;

/** Words of JSON Schema, of capabilities and of the tools of the host, which have no type. */
const otherWords = `
  io.modelcontextprotocol/serverInfo io.modelcontextprotocol/clientInfo io.modelcontextprotocol/clientCapabilities
  io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/related-task io.modelcontextprotocol/subscriptionId io.modelcontextprotocol/logLevel
  io.modelcontextprotocol/tasks io.modelcontextprotocol/ui io.modelcontextprotocol/skills progressToken resultType execution taskSupport
  optional forbidden nextCursor
  $anchor $comment $dynamicAnchor $dynamicRef $schema $vocabulary additionalItems additionalProperties call_tool completions contains
  contentEncoding contentMediaType contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated
  discriminator enumNames examples exclusiveMaximum exclusiveMinimum experimental extensions handle integer listChanged logging mapping
  maxContains maxProperties minContains minProperties multipleOf nullable object offset patternProperties prefixItems properties
  propertyNames protocolVersion readOnly read_result requestedSchema safeToRepeat search_tools serverInfo string subscribe
  unevaluatedItems unevaluatedProperties uniqueItems writeOnly
`;

const words: ReadonlySet<string> = new Set(`${wordsOfTypes} ${otherWords}`.trim().split(/\s+/));

/** The members whose values distinguish types or states. Those of a schema name other members. */
const discriminators: ReadonlySet<string> = new Set(
  "type role status reason state kind action by subject outcome effect mode code level target stopReason finish decision audience theme required name server".split(
    " ",
  ),
);

/** Returns whether a text is the name of a member that the host, the protocol or JSON Schema defines. */
export function isStructureName(name: string): boolean {
  return words.has(name);
}

/** Returns whether a member with this name distinguishes types or states, or names a part of the host. */
export function isDiscriminator(name: string): boolean {
  return discriminators.has(name);
}

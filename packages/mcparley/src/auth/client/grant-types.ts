/** The grant by an assertion (RFC 7523, 2.1). */
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** The exchange of one token for another (RFC 8693, 2.1). */
export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

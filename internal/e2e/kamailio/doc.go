// Package kamailio runs Kamailio for end-to-end tests: an independent SIP server, over TLS on 127.0.0.1. It is a registrar that
// challenges with digest, a proxy that calls registered clients over the connection of their registration, and a peer that answers
// OPTIONS only for its host and never for a user at it.
package kamailio

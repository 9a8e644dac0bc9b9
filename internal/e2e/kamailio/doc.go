// Package kamailio runs Kamailio, an independent SIP server, over TLS on 127.0.0.1 for end-to-end tests. It is a registrar that challenges
// with digest authentication, and a proxy that calls registered clients over the connection of their registration. It answers OPTIONS for
// its host, but not for a user at this host.
package kamailio

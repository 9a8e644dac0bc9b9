// Package e2e tests the complete system: the reference server and the softphone against baresip, an independent SIP phone, over TLS and
// SRTP on this machine, with real speech in both directions.
//
// The tests use flite, pocketsphinx and baresip, which are Debian packages. A test fails and names the program if it is missing. Tests wait
// for events instead of fixed times, so they last as long as the spoken sentences.
package e2e

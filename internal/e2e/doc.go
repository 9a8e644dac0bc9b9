// Package e2e holds the tests of the whole: the reference server and the telephone against baresip, an independent SIP phone, over
// TLS and SRTP on this machine, with real speech in both directions.
//
// The programs they need (flite, pocketsphinx, baresip) are Debian packages; a test that misses one fails and names it.
// Tests wait only for events, so they take as long as people take to say their sentences.
package e2e

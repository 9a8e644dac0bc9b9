// Package auth is digest access authentication for SIP (RFC 3261, section 22; RFC 8760), on both sides: [Challenge] answers
// the challenges of servers, and [Challenger] challenges callers whose trunk has credentials and checks their answers.
package auth
